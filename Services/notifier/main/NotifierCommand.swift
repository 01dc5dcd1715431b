import ArgumentParser
import Notifier
import ServiceDefaults

@main
enum NotifierCommand {
    static func main() async {
        await ServiceCommand<Notifier>.main()
    }
}
