// The search runs in a worker. Browsers start none for a page that was opened from a folder: there it runs in a frame
// that nobody sees.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.append(frame)
      this.inside = frame.contentWindow
      this.inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      const script = frame.contentDocument.createElement("script")
      script.src = url
      this.loaded = new Promise(done => script.addEventListener("load", done))
      frame.contentDocument.body.append(script)
    }

    async postMessage(data) {
      await this.loaded
      this.inside.dispatchEvent(new MessageEvent("message", { data }))
    }
  }
}
