"""The edits that every mechanism is made of."""

from __future__ import annotations

from armillary._core import Transform
from armillary.articulation.edits import Apply, Edit
from armillary.articulation.joints import Joint
from armillary.articulation.operations import AddJoint, AddLink, AddObject, Connect, SetValue
from armillary.articulation.paths import joined
from armillary.formats.descriptions import BoxForm, CylinderForm, ShapeDescription, Triple

__all__ = ["Parts", "box", "cylinder"]


class Parts:
    """The links and joints of one thing, as edits in the order they are said."""

    def __init__(self, name: str, root: str) -> None:
        self.name = name
        made = AddObject(name=name, root=self.link_path(root))
        self.edits: list[Edit] = [Apply(f"create {name}", made)]

    def link_path(self, link: str) -> str:
        """Of a link of this thing."""
        return joined(self.name, "links", link)

    def link(self, link: str, *visuals: ShapeDescription) -> None:
        """A link; what one sees of it is what one bumps into."""
        path = self.link_path(link)
        self._apply(f"create {path}", AddLink(path=path, visuals=visuals, collisions=visuals))

    def joint(self, joint: str, kind: Joint, *, child: str, parent: str | None) -> None:
        """Hang one link under another; under nothing, it stands in the frame of the model."""
        path, below = joined(self.name, "joints", joint), self.link_path(child)
        above = None if parent is None else self.link_path(parent)
        self._apply(f"create {path}", AddJoint(path=path, joint=kind))
        self._apply(f"connect {above or 'world'} {below}", Connect(child=below, joint=path, parent=above))

    def value(self, path: str, value: object) -> None:
        """An expression or a constraint of its own."""
        whole = joined(self.name, path)
        self._apply(f"create {whole}", SetValue(whole, value))

    def _apply(self, tag: str, operation: object) -> None:
        self.edits.append(Apply(tag, operation))  # type: ignore[arg-type]


def box(size_m: Triple, at: Triple = (0.0, 0.0, 0.0)) -> ShapeDescription:
    """A box around a point of the link."""
    return ShapeDescription(form=BoxForm(size_m=size_m), link_T_shape=_placed(at))


def cylinder(
    radius_m: float, length_m: float, at: Triple = (0.0, 0.0, 0.0), rpy: Triple = (0.0, 0.0, 0.0)
) -> ShapeDescription:
    """A cylinder around a point of the link, upright if it is not turned."""
    placed = Transform.from_xyz_rpy(xyz=at, rpy=rpy)
    return ShapeDescription(form=CylinderForm(radius_m=radius_m, length_m=length_m), link_T_shape=placed)


def _placed(at: Triple) -> Transform:
    return Transform.from_xyz_rpy(xyz=at, rpy=(0.0, 0.0, 0.0))
