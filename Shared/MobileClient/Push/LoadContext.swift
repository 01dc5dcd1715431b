internal import Foundation

/// Performs the effects of a ``ContentLoaderReducer``.
final class LoadContext: Sendable {
    private let tasks = Locked<[Int: Task<Void, Never>]>([:])
    private let timer = Locked<Task<Void, Never>?>(nil)
    /// The types of the pictures whose files are complete.
    private let types = Locked<[Int: AttachmentType]>([:])
    private let urls: [URL]
    private let transport: any HTTPTransport
    /// Distinguishes the files of this notification from the files of others.
    private let name = UUID()
    let folder: URL
    let time: TimeSource

    typealias Runner = SynchronousRunner<ContentLoaderReducer>

    init(urls: [URL], folder: URL, transport: any HTTPTransport, time: TimeSource) {
        self.urls = urls
        self.folder = folder
        self.transport = transport
        self.time = time
    }

    func perform(
        _ effect: ContentLoaderReducer.Effect, _ runner: Runner, deliver: NotificationContentLoader.Delivery
    ) -> [ContentLoaderReducer.Event] {
        switch effect {
        case .startTimer:
            let timer = Task { [time] in
                guard (try? await time.sleep(NotificationContentLoader.limit)) != nil else { return }
                runner.send(.timeUp)
            }
            self.timer.withLock { $0 = timer }
        case .stopTimer: timer.withLock { $0 }?.cancel()
        case .download(let number):
            let task = Task {
                let type = await load(number)
                types.withLock { $0[number] = type }
                runner.send(type == nil ? .failed(number) : .downloaded(number))
            }
            tasks.withLock { $0[number] = task }
        case .cancel(let number): tasks.withLock { $0[number] }?.cancel()
        case .deliver(nil): _ = deliver(nil)
        case .deliver(let number?):
            // The type is known before a download is reported.
            guard let type = types.withLock({ $0[number] }) else {
                _ = deliver(nil)
                return [.rejected(number)]
            }
            if !deliver(NotificationContentLoader.Attachment(file: file(number, type), type: type)) { return [.rejected(number)] }
        case .removeFile(let number):
            try? FileManager.default.removeItem(at: file(number, nil))
            if let type = types.withLock({ $0[number] }) { try? FileManager.default.removeItem(at: file(number, type)) }
        }
        return []
    }

    private func file(_ number: Int, _ type: AttachmentType?) -> URL {
        folder.appendingPathComponent("\(name)-\(number).\(type?.fileExtension ?? "download")")
    }

    /// Loads a picture into its file; nil when that fails or the file is not a picture.
    private func load(_ number: Int) async -> AttachmentType? {
        let file = file(number, nil)
        do {
            try SystemFiles().createFolder(folder)
            let request = TransportRequest(
                "GET", urls[number], headers: ["accept": "image/jpeg, image/png, image/gif"], timeout: NotificationContentLoader.limit)
            let response = try await transport.download(request, to: file, maxBytes: AttachmentPlan.maxBytes)
            guard response.status == 200 else { return nil }
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            // The transport's limit is checked again, for the app may have brought its own.
            guard try handle.seekToEnd() <= AttachmentPlan.maxBytes else { return nil }
            try handle.seek(toOffset: 0)
            let start = try handle.read(upToCount: 16) ?? Data()
            guard let type = AttachmentType(firstBytes: start, contentType: response.headers["content-type"]) else { return nil }
            try FileManager.default.moveItem(at: file, to: self.file(number, type))
            return type
        } catch {
            return nil
        }
    }
}
