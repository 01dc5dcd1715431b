import ArgumentParser
import ImageWorker
import ServiceDefaults

@main
enum ImageWorkerCommand {
    static func main() async { await ServiceCommand<ImageWorker>.main() }
}
