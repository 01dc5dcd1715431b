@main
struct HeliographCtlCommand {
    static func main() {}
}
