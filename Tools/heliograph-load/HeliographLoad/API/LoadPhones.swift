internal import Foundation
internal import HTTPClient

/// Supplies the push tokens of the load's phones.
actor LoadPhones {
    /// Tokens minted by one request to the emulator.
    private static let batchSize = 100

    private let emulator: String?
    private let http: HTTPClient
    private var minted: [String] = []

    /// - Parameter emulator: the URL of an FCM emulator, whose phones get pushes; nil makes tokens up, which FCM refuses.
    init(emulator: String?, http: HTTPClient) {
        self.emulator = emulator
        self.http = http
    }

    private struct Minted: Decodable {
        let tokens: [String]
    }

    func next() async throws(LoadFailure) -> String {
        guard let emulator else { return "c\(UUID().uuidString.replacing("-", with: "").prefix(21)):load" }
        if let token = minted.popLast() { return token }
        let request = HTTPClientRequest(
            method: "POST", url: emulator + "/control/tokens", body: Array("{\"count\":\(Self.batchSize)}".utf8))
        guard let response = try? await http.execute(request), response.status == 200,
            let answer = try? JSONDecoder().decode(Minted.self, from: Data(response.body)), let last = answer.tokens.last
        else { throw LoadFailure(at: nil, "the FCM emulator minted no push token") }
        minted += answer.tokens.dropLast()
        return last
    }
}
