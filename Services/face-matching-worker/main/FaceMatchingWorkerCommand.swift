@main
struct FaceMatchingWorkerCommand {
    static func main() {}
}
