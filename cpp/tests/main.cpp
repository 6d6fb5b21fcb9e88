#include "check.hpp"

int main(int argc, char** argv) { return check::run(argc > 1 ? argv[1] : nullptr); }
