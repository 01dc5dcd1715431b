import ArgumentParser
import IdentityAPI
import ServiceDefaults

@main
enum IdentityAPICommand {
    static func main() async { await ServiceCommand<IdentityAPI>.main() }
}
