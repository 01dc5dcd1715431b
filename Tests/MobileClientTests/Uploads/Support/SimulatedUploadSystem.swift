import Foundation

@testable import MobileClient

/// What is outside of the app: the tasks of a background session, which go on without the app, and the API that they upload to.
///
/// Like iOS, it reads the file of a task only while it uploads, keeps the end of a task until a process has taken it, and forgets the tasks
/// of an app that the user has ended. Like the API, it answers a repeated key by the first answer.
final class SimulatedUploadSystem: Sendable {
    struct Task {
        var upload: UploadTask
        var end: Result<TransportResponse, TransportError>?
        /// A test holds the end back until the session is listed.
        var key: String { upload.request.headers["x-request-id"] ?? "" }
    }

    struct Contents {
        var next = 0
        var tasks: [Int: Task] = [:]
        var jobs: [String: (job: String, body: Data)] = [:]
        var posts: [(key: String, bearer: String)] = []
        var validBearers: Set<String> = ["old"]
        /// The answer to all orders in place of a job.
        var refusal: TransportResponse?
        var attached: AsyncStream<UploadEvent>.Continuation?
        var faults: [String] = []
    }

    let contents = Locked(Contents())

    var liveTasks: [Int] { contents.withLock { $0.tasks.filter { $0.value.end == nil }.keys.sorted() } }
    var tasks: [Int: Task] { contents.withLock(\.tasks) }
    var jobs: [String] { contents.withLock { $0.jobs.values.map(\.job).sorted() } }
    var posts: [(key: String, bearer: String)] { contents.withLock(\.posts) }
    var faults: [String] { contents.withLock(\.faults) }

    func setBearers(_ bearers: Set<String>) { contents.withLock { $0.validBearers = bearers } }
    func refuse(_ answer: TransportResponse?) { contents.withLock { $0.refusal = answer } }

    // MARK: The network

    /// The API handles the POST of a task, and the answer does not arrive: the system sends the POST again, or gives up later.
    func post(_ task: Int) { contents.withLock { state in _ = Self.answer(task, &state) } }

    /// The API handles the POST of a task, and the task ends with its answer.
    func finish(_ task: Int) {
        contents.withLock { state in
            guard let end = Self.answer(task, &state) else { return }
            Self.end(task, end, &state)
        }
    }

    func fail(_ task: Int, _ code: TransportError.Code) {
        contents.withLock { Self.end(task, .failure(TransportError(code, "simulated")), &$0) }
    }

    func finishAll() { liveTasks.forEach(finish) }

    /// Says that all events of a wake-up are delivered.
    func finishEvents() { contents.withLock { _ = $0.attached?.yield(.finished) } }

    // MARK: The process

    func endProcess() { contents.withLock { $0.attached = nil } }

    /// The user ends the app: its tasks are gone, and the session reports no end.
    func forceQuit() {
        contents.withLock { state in
            state.attached = nil
            state.tasks = [:]
        }
    }

    func attach(_ continuation: AsyncStream<UploadEvent>.Continuation) {
        contents.withLock { state in
            state.attached = continuation
            for (number, task) in state.tasks.sorted(by: { $0.key < $1.key }) { Self.deliver(number, task, &state) }
        }
    }

    func create(_ upload: UploadTask) -> Int {
        contents.withLock { state in
            let task = Task(upload: upload)
            if state.tasks.values.contains(where: { $0.end == nil && $0.key == task.key }) { state.faults.append("two live tasks") }
            state.tasks[state.next] = task
            state.next += 1
            return state.next - 1
        }
    }

    // MARK: Inside

    private static func end(_ number: Int, _ end: Result<TransportResponse, TransportError>, _ state: inout Contents) {
        guard state.tasks[number]?.end == nil else { return }
        state.tasks[number]?.end = end
        if let task = state.tasks[number] { deliver(number, task, &state) }
    }

    private static func deliver(_ number: Int, _ task: Task, _ state: inout Contents) {
        guard let end = task.end, let attached = state.attached else { return }
        state.tasks[number] = nil
        attached.yield(.ended(task: number, description: task.upload.description, end))
    }

    private static func answer(_ number: Int, _ state: inout Contents) -> Result<TransportResponse, TransportError>? {
        guard let task = state.tasks[number], task.end == nil else { return nil }
        guard let body = try? Data(contentsOf: task.upload.file) else {
            state.faults.append("the file of a task is gone")
            return .failure(TransportError(.file, "no such file"))
        }
        let bearer = String(task.upload.request.headers["authorization"]?.dropFirst("Bearer ".count) ?? "")
        state.posts.append((task.key, bearer))
        guard state.validBearers.contains(bearer) else {
            return .success(.json(#"{"success":false,"code":1101,"message":"no","error":{"code":"unauthorized"}}"#, status: 401))
        }
        if let first = state.jobs[task.key] {
            if first.body != body { state.faults.append("a key is used for another order") }
            return .success(.json(#"{"success":true,"data":{"job_id":"\#(first.job)"}}"#, status: 202))
        }
        if let refusal = state.refusal { return .success(refusal) }
        let job = "job-\(state.jobs.count)"
        state.jobs[task.key] = (job, body)
        return .success(.json(#"{"success":true,"data":{"job_id":"\#(job)","status":"pending"}}"#, status: 202))
    }
}

/// A process's side of a ``SimulatedUploadSystem``. It does nothing any more when the process has ended.
struct SimulatedSession: BackgroundUploading {
    let system: SimulatedUploadSystem
    var life = ProcessLife()
    var identifier: String { "com.example.uploads" }

    func events() -> AsyncStream<UploadEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: UploadEvent.self)
        if life.mayGoOn() { system.attach(continuation) }
        return stream
    }

    func tasks() async -> [(task: Int, description: String?)] {
        guard life.mayGoOn() else { return [] }
        return system.tasks.map { ($0.key, $0.value.upload.description) }
    }

    func create(_ upload: UploadTask) async -> Int {
        // Its process does not see it.
        guard life.mayGoOn() else { return -1 }
        return system.create(upload)
    }

    func cancel(_ task: Int) async {
        if life.mayGoOn() { system.fail(task, .cancelled) }
    }
}
