@main
struct ImageWorkerCommand {
    static func main() {}
}
