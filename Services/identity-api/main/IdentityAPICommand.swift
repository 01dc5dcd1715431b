@main
struct IdentityAPICommand {
    static func main() {}
}
