internal import ArgumentParser
internal import Foundation
internal import HTTPClient

/// A load from its first account to its report.
struct Load {
    let plan: LoadPlan
    let photos: LoadPhotos
    let emulator: String?
    let http: HTTPClient
    /// The fewest accounts of each sort that is needed.
    let accountsMin: Int
    /// Whether what was made stays.
    let keeps: Bool

    private var api: LoadAPI { LoadAPI(url: plan.url, http: http, patience: plan.patience) }

    /// - Throws: `ExitCode.unavailable` when the load cannot begin, after having said why.
    func run() async throws -> LoadReport {
        let phones = LoadPhones(emulator: emulator, http: http)
        let pushes = emulator.map { LoadPushes(emulator: $0, http: http) }
        let templates = try await beginning("the styles of pictures") { try await self.templates() }
        let population = try await beginning("the accounts that the load needs") { try await found(phones) }
        let firstPush = try await beginning("the pushes") { try await pushes?.end() ?? 0 }
        Console.current.note("Begins.")
        let startedAt = Date()
        let start = ContinuousClock.now
        let recorder = LoadRecorder(start: start, warmUp: plan.warmUp)
        let crew = LoadCrew(
            api: api, photos: photos, templates: templates, phones: phones, pushes: pushes, population: population,
            recorder: recorder)
        let stop = LoadStop()
        let signals = LoadSignals(stop, note: Console.current.note)
        let measured = await withTaskGroup(of: Void.self) { helpers in
            let progress = LoadProgress(plan: plan, recorder: recorder, start: start, console: Console.current)
            helpers.addTask { await progress.run() }
            if let pushes { helpers.addTask { await pushes.watch(from: firstPush) } }
            let measured = await LoadRunner(plan: plan, crew: crew, start: start, stop: stop).run()
            helpers.cancelAll()
            return measured
        }
        signals.end()
        if !keeps { Console.current.note("Cleaning up.") }
        let remains = keeps ? nil : await LoadCleaner(api: api).clean(population)
        return LoadReport(
            plan: plan, startedAt: startedAt, measured: measured, snapshot: recorder.snapshot, remains: remains)
    }

    private func templates() async throws -> [String] {
        let ids = try await api.send("GET", "/v1/templates", for: nil).body.data?.templates?.map(\.id) ?? []
        guard !ids.isEmpty else { throw LoadFailure(at: nil, "there are none") }
        return ids
    }

    private func found(_ phones: LoadPhones) async throws -> LoadPopulation {
        let bytes = photos.pictures.reduce(0) { $0 + $1.bytes.count } / photos.pictures.count
        let size = LoadPopulation.Size(plan, pictureBytes: Double(bytes), minimum: accountsMin)
        let total = size.members + size.owners
        let console = Console.current
        if total > 0 { console.note("Making \(HumanUnits.count(total, "account")), each with a sign-up.") }
        let founder = LoadFounder(api: api, photos: photos, phones: phones)
        defer { console.progress?("") }
        return try await founder.found(size) { console.progress?("\($0) of \(total)") }
    }

    /// Says what the load cannot begin without.
    private func beginning<Value>(_ what: String, _ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch let failure as LoadFailure {
            let stage = failure.stage.map { " (\($0.rawValue))" } ?? ""
            Console.current.note("\(plan.url) does not give \(what)\(stage): \(failure.reason)")
            throw ExitCode.unavailable
        }
    }
}
