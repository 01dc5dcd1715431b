@main
struct FCMEmulatorCommand {
    static func main() {}
}
