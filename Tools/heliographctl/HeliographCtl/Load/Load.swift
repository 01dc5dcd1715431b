internal import ArgumentParser
internal import Foundation
internal import HTTPClient

/// Runs a load, from the sign-up of its first account to its report.
struct Load {
    let plan: LoadPlan
    let photos: LoadPhotos
    let emulator: String?
    let http: HTTPClient
    /// The minimum number of accounts of each sort that is needed.
    let minAccounts: Int
    /// Whether the run skips the clean-up.
    let keepsData: Bool

    private var api: LoadAPI { LoadAPI(url: plan.url, http: http, patience: plan.patience) }

    /// - Throws: `ExitCode.unavailable` when the load cannot begin, after a note with the reason.
    func run() async throws -> LoadReport {
        let phones = LoadPhones(emulator: emulator, http: http)
        let pushes = emulator.map { LoadPushes(emulator: $0, http: http) }
        let templates = try await requiring("the picture styles") { try await self.templates() }
        let population = try await requiring("the accounts that the load needs") { try await seedAccounts(phones) }
        let firstPush = try await requiring("the pushes") { try await pushes?.endPosition() ?? 0 }
        Console.current.note("Begins.")
        let startedAt = Date()
        let start = ContinuousClock.now
        let recorder = LoadRecorder(start: start, warmUp: plan.warmUp)
        let driver = LoadDriver(
            api: api, photos: photos, templates: templates, phones: phones, pushes: pushes, population: population,
            recorder: recorder)
        let stop = LoadStop()
        let signals = LoadSignals(stop, note: Console.current.note)
        let measured = await withTaskGroup(of: Void.self) { helpers in
            let progress = LoadProgress(plan: plan, recorder: recorder, start: start, console: Console.current)
            helpers.addTask { await progress.run() }
            if let pushes { helpers.addTask { await pushes.watch(from: firstPush) } }
            let measured = await LoadRunner(plan: plan, driver: driver, start: start, stop: stop).run()
            helpers.cancelAll()
            return measured
        }
        signals.end()
        if !keepsData { Console.current.note("Cleaning up.") }
        let remains = keepsData ? nil : await LoadCleanup(api: api).run(population)
        return LoadReport(
            plan: plan, startedAt: startedAt, measured: measured, snapshot: recorder.snapshot, remains: remains)
    }

    private func templates() async throws -> [String] {
        let ids = try await api.send("GET", "/v1/templates", for: nil).body.data?.templates?.map(\.id) ?? []
        guard !ids.isEmpty else { throw LoadFailure(at: nil, "there are none") }
        return ids
    }

    private func seedAccounts(_ phones: LoadPhones) async throws -> LoadPopulation {
        let bytes = photos.pictures.reduce(0) { $0 + $1.bytes.count } / photos.pictures.count
        let size = LoadPopulation.Size(plan, pictureBytes: Double(bytes), minimum: minAccounts)
        let total = size.members + size.owners
        let console = Console.current
        if total > 0 { console.note("Making \(HumanUnits.count(total, "account")), each with a sign-up.") }
        let seeder = AccountSeeder(api: api, photos: photos, phones: phones)
        defer { console.progress?("") }
        return try await seeder.seed(size) { console.progress?("\($0) of \(total)") }
    }

    /// Runs a step that the load needs to begin; when it fails, prints what is missing and exits with the code `unavailable`.
    private func requiring<Value>(_ what: String, _ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch let failure as LoadFailure {
            let stage = failure.stage.map { " (\($0.rawValue))" } ?? ""
            Console.current.note("\(plan.url) does not give \(what)\(stage): \(failure.reason)")
            throw ExitCode.unavailable
        }
    }
}
