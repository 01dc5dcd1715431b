internal import Foundation

/// A session whose uploads run in the process, by an ``HTTPTransport``, and end with it: for Linux, tools and simulated phones.
///
/// After an end of the process its list of tasks is empty, as after the user has ended an app on iOS.
final class ForegroundUploads: BackgroundUploading {
    private struct Contents {
        var next = 0
        var running: [Int: (description: String, work: Task<Void, Never>)] = [:]
    }

    let identifier: String
    private let transport: any HTTPTransport
    private let time: TimeSource
    private let contents = Locked(Contents())
    private let stream: AsyncStream<UploadEvent>
    private let continuation: AsyncStream<UploadEvent>.Continuation

    init(identifier: String = "foreground", transport: any HTTPTransport, time: TimeSource = .system) {
        self.identifier = identifier
        self.transport = transport
        self.time = time
        (stream, continuation) = AsyncStream.makeStream()
    }

    deinit {
        continuation.finish()
        contents.withLock { $0.running.values.forEach { $0.work.cancel() } }
    }

    func events() -> AsyncStream<UploadEvent> { stream }

    func tasks() async -> [(task: Int, description: String?)] {
        contents.withLock { $0.running.map { ($0.key, $0.value.description) } }
    }

    func create(_ upload: UploadTask) async -> Int {
        let (transport, time, continuation, contents) = (transport, time, continuation, contents)
        return contents.withLock { state in
            let number = state.next
            state.next += 1
            let work = Task {
                let end = await Self.run(upload, transport, time)
                // The end of a task and its way out of the list are one, as in a session of the system.
                contents.withLock { state in
                    state.running[number] = nil
                    continuation.yield(.ended(task: number, description: upload.description, end))
                }
            }
            state.running[number] = (upload.description, work)
            return number
        }
    }

    func cancel(_ task: Int) async { contents.withLock { $0.running[task]?.work.cancel() } }

    private static func run(
        _ upload: UploadTask, _ transport: any HTTPTransport, _ time: TimeSource
    ) async -> Result<TransportResponse, TransportError> {
        let delay = upload.notBefore?.timeIntervalSince(time.now()) ?? 0
        do { if delay > 0 { try await time.sleep(.seconds(delay)) } } catch {
            return .failure(TransportError(.cancelled, "The upload was cancelled"))
        }
        do throws(TransportError) {
            return .success(try await transport.send(upload.request, maxBytes: UploadEvent.maxAnswerBytes))
        } catch {
            return .failure(error)
        }
    }
}
