internal import Foundation

/// A folder of the bodies of uploads; each body exists only while it is sent.
///
/// If the process ends, a body remains. The next upload deletes bodies that are older than a day, which no upload needs any more.
struct FormFolder: Sendable {
    static let maxAge = Duration.seconds(24 * 60 * 60)

    let url: URL
    let time: TimeSource

    /// Writes a form, and deletes it after `body`, however that ends.
    func withForm<Answer: Sendable>(
        _ parts: [MultipartFileWriter.Part],
        _ body: (MultipartFileWriter.Written) async throws(HeliographError) -> Answer
    ) async throws(HeliographError) -> Answer {
        try HeliographError.storing("The folder of uploads cannot be made") { try SystemFiles().createFolder(url) }
        deleteLeftovers()
        let file = url.appendingPathComponent("\(UUID().wireText).form")
        let form = try await MultipartFileWriter().write(parts, to: file)
        let outcome: Result<Answer, HeliographError>
        do throws(HeliographError) { outcome = .success(try await body(form)) } catch { outcome = .failure(error) }
        try? FileManager.default.removeItem(at: file)
        return try outcome.get()
    }

    /// Deletes bodies that an ended process has left. The next upload retries a deletion that fails now.
    func deleteLeftovers() { SystemFiles().removeFiles(of: url, olderThan: Self.maxAge, at: time.now()) }
}
