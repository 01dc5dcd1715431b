@main
struct BenchCommand {
    static func main() {}
}
