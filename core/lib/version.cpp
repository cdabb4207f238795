namespace incc {
const char *coreVersion() { return "0.1.0"; }
} // namespace incc
