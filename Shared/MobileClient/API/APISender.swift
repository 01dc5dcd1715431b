internal import Foundation

/// Sends requests of the API with credentials, repetitions and one kind of error. ``APIClient`` is the one of apps.
protocol APISender: Sendable {
    /// Sends a request; repeats it where that is safe and may help.
    func send<Answer>(_ request: APIRequest<Answer>) async throws(HeliographError) -> Answer

    /// Sends a request and writes its answer to a file. The file must not exist before, and does not exist after an error.
    func download(_ request: APIRequest<Void>, to file: URL, maxBytes: Int) async throws(HeliographError)

    /// Sends a request for server-sent events; returns when they have ended or `onEvent` has returned false.
    func events(
        _ request: APIRequest<Void>, onEvent: @escaping @Sendable (_ name: String, _ data: String) async -> Bool
    ) async throws(HeliographError)
}
