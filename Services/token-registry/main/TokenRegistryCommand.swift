@main
struct TokenRegistryCommand {
    static func main() {}
}
