import ArgumentParser
import FaceMatchingWorker
import ServiceDefaults

@main
enum FaceMatchingWorkerCommand {
    static func main() async { await ServiceCommand<FaceMatchingWorker>.main() }
}
