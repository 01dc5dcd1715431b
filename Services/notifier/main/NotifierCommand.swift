@main
struct NotifierCommand {
    static func main() {}
}
