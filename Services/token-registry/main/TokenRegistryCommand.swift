import ArgumentParser
import ServiceDefaults
import TokenRegistry

@main
enum TokenRegistryCommand {
    static func main() async {
        await ServiceCommand<TokenRegistry>.main()
    }
}
