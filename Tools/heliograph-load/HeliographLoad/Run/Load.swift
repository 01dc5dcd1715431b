internal import ArgumentParser
internal import CommandLineSupport
internal import Foundation
internal import HTTPClient
internal import JSON
internal import UnixSignals

/// Runs a load, from the sign-up of its first account to its report.
struct Load {
    let plan: LoadPlan
    let photos: LoadPhotos
    /// The URL of the FCM emulator; nil without one.
    let emulator: String?
    let http: HTTPClient
    /// The minimum number of accounts of each sort that is needed.
    let minAccounts: Int
    /// Whether the run skips the clean-up.
    let keepsData: Bool

    let retries: LoadRetries

    private var api: LoadAPI { LoadAPI(url: plan.url, http: http, patience: plan.patience, retries: retries) }

    /// - Throws: `ExitCode.unavailable` when the load cannot begin, after a note with the reason.
    func run() async throws -> LoadReport {
        let phones = LoadPhones(emulator: emulator, http: http)
        let pushes = emulator.map { LoadPushes(emulator: $0, http: http) }
        let templates = try await requiring("the picture styles") { try await self.templates() }
        let population = try await requiring("the accounts that the load needs") { try await seedAccounts(phones) }
        let firstPush = try await requiring("the pushes") { try await pushes?.endPosition() ?? 0 }
        let console = Console.current
        console.note("Begins.")
        let startedAt = Date()
        let recorder = LoadRecorder(start: .now, warmUp: plan.warmUp)
        let driver = LoadDriver(
            api: api, photos: photos, templates: templates, phones: phones, pushes: pushes, population: population,
            recorder: recorder)
        let runner = LoadRunner(plan: plan, driver: driver, start: recorder.start)
        let measured = await withTaskGroup(of: Void.self) { helpers in
            helpers.addTask { await LoadProgress(plan: plan, recorder: recorder, console: console).run() }
            helpers.addTask { await stopOnSignal(runner, console) }
            if let pushes { helpers.addTask { await pushes.watch(from: firstPush) } }
            let measured = await runner.run()
            helpers.cancelAll()
            return measured
        }
        Self.restoreSignals()
        if !keepsData { console.note("Cleaning up.") }
        let remains = keepsData ? nil : await LoadCleanup(api: api).run(population)
        return LoadReport(
            plan: plan, startedAt: startedAt, measured: measured, snapshot: recorder.snapshot, remains: remains, retries: retries.counts)
    }

    private func templates() async throws -> [String] {
        let reply = try await api.send("GET", "/v1/templates", for: nil)
        let templates = reply.body["data"]?["templates"]?.elements ?? []
        let ids = templates.compactMap { $0["id"]?.string }
        guard !ids.isEmpty else { throw LoadFailure(at: nil, "there are none") }
        return ids
    }

    private func seedAccounts(_ phones: LoadPhones) async throws -> LoadPopulation {
        let bytes = photos.pictures.reduce(0) { $0 + $1.bytes.count } / photos.pictures.count
        let size = LoadPopulation.Size(plan, pictureBytes: Double(bytes), minimum: minAccounts)
        let total = size.members + size.owners
        let console = Console.current
        if total > 0 { console.note("Making \(HumanUnits.count(total, "account")), each with a sign-up.") }
        defer { console.progress?("") }
        let mails = LoadMails(emulator: emulator, http: http, patience: plan.patience)
        let seeder = AccountSeeder(api: api, photos: photos, phones: phones, mails: mails)
        return try await seeder.seed(size) { console.progress?("\($0) of \(total)") }
    }

    private static let stopSignals = [UnixSignal.sigint, .sigterm]

    /// Ends the load early on the first SIGINT or SIGTERM; the second one ends the process.
    private func stopOnSignal(_ runner: LoadRunner, _ console: Console) async {
        for await _ in await UnixSignalsSequence(trapping: Self.stopSignals) {
            Self.restoreSignals()
            runner.stop.request()
            return console.note("Stopping: waiting for actions in flight, then cleaning up. Press Ctrl-C again to end at once.")
        }
    }

    private static func restoreSignals() { stopSignals.forEach { signal($0.rawValue, SIG_DFL) } }

    /// Runs a step that the load needs to begin; when it fails, prints the missing condition and exits with the code `unavailable`.
    private func requiring<Value>(_ what: String, _ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch let failure as LoadFailure {
            let stage = failure.stage.map { " (\($0.rawValue))" } ?? ""
            Console.current.note("\(plan.url) does not give \(what)\(stage): \(failure.reason)")
            throw ExitCode.unavailable
        }
    }
}
