internal import ArgumentParser
internal import CommandLineSupport
internal import FaceEngine
internal import Foundation
internal import Imaging
internal import Logging
internal import ServiceDefaults

/// Measures the recognition with an operator's own photos.
struct FacesCalibrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calibrate",
        abstract: "Measure false refusals and false acceptances with photos of your own people.",
        discussion: """
            The folder has a folder for each person, with at least seven photos of that person: some make the template of a simulated \
            sign-up, and all groups of three others are simulated sign-ins, with the own template and with those of all others. Use photos \
            with the consent of the people in them. Nothing is stored and no server is asked; photos are decoded in a sandbox.

            The bounds (95 %, Clopper and Pearson) are those of the people, and of the pairs of people, who are affected: attempts of one \
            person resemble each other.

              heliographctl faces calibrate --photos people/
              heliographctl faces calibrate --photos people/ --page calibration.html
              heliographctl faces calibrate --photos people/ --json | jq '.points[] | select(.threshold == 1)'
            """
    )

    @Option(name: .long, help: ArgumentHelp("The folder with a folder of photos for each person.", valueName: "folder"))
    var photos: String

    @Option(
        name: .long,
        help: ArgumentHelp("The folder of the models.", discussion: "Default: FACE_MODELS_PATH of the environment.", valueName: "folder"))
    var models: String?

    @Option(name: .long, help: ArgumentHelp("Write a page with plots.", valueName: "file"))
    var page: String?

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    func run() async throws {
        let console = Console.current
        let settings = Settings()
        let (threshold, models, sandbox) = try reporting(hint: "--models") {
            (
                try settings.faceThreshold(),
                try self.models ?? settings.faceModelsPath(),
                try settings.imageSandbox(deployed: SandboxMode.required, local: .available)
            )
        }
        let decoder = ImageDecoder(sandbox: sandbox, logger: .silent)
        let pool: FaceEnginePool
        do throws(FaceEngineError) {
            pool = try await FaceEnginePool.start(
                modelsDirectory: models, threads: ProcessInfo.processInfo.activeProcessorCount, decoder: decoder)
        } catch {
            console.note("No photo can be analysed: \(error.message)")
            throw ExitCode.configuration
        }
        let set: CalibrationPhotos
        do {
            set = try await CalibrationPhotos(in: photos, pool, console)
        } catch let error as CocoaError {
            await pool.shutdown()
            console.note("\(photos) cannot be read: \(error.localizedDescription)")
            throw ExitCode.failure
        }
        await pool.shutdown()
        let trials = CalibrationTrials(set)
        guard trials.people.count >= 2 else {
            console.note("\(photos) needs a folder with seven usable photos for each of at least two people.")
            throw ExitCode.nothingFound
        }
        let report = CalibrationReport(trials, set, current: threshold)
        if let page { try Data(CalibrationPage(report).html.utf8).write(to: URL(fileURLWithPath: page)) }
        try console.show(report, asJSON: json)
    }
}
