import Foundation

@testable import MobileClient

/// A client with scripted answers, a store in a folder of its own, and time that jumps.
struct ClientFixture {
    let folder: TemporaryFolder
    let time = JumpingTime()
    let transport: ScriptedTransport
    let client: APIClient

    var store: FileCredentialStore { FileCredentialStore(file: folder.url.appendingPathComponent("credentials")) }

    init(
        _ transport: ScriptedTransport, firebase: FirebaseTokenProvider? = nil, in folder: TemporaryFolder? = nil,
        repetition: RequestRepetition = RequestRepetition(random: { 1 }), keys: (any DeviceKeyMaker)? = nil
    ) throws {
        let folder = try folder ?? TemporaryFolder()
        self.folder = folder
        let (time, keyFile) = (time, folder.url.appendingPathComponent("device-key"))
        self.transport = transport
        let configuration = try ClientConfiguration(
            baseURL: URL(string: "https://api.example.com/base/")!, appVersion: "1.2", locale: "de-CH", folder: folder.url)
        client = APIClient(
            configuration: configuration, transport: transport,
            credentials: FileCredentialStore(file: folder.url.appendingPathComponent("credentials")), firebase: firebase,
            time: time.source, repetition: repetition,
            proofs: keys.map {
                DeviceProofs($0, keeping: FileCredentialStore(file: keyFile), time: time.source)
            })
    }

    init(_ answers: [Result<TransportResponse, TransportError>], repetition: RequestRepetition = RequestRepetition(random: { 1 })) throws {
        try self.init(ScriptedTransport(answers), repetition: repetition)
    }

    /// A request without a credential.
    static func get(_ path: String = "/v1/x") -> APIRequest<String> {
        APIRequest(method: "GET", path: path, bearer: .none) { String(decoding: $0.body, as: UTF8.self) }
    }

    static func account(_ method: String = "GET", key: UUID? = nil) -> APIRequest<String> {
        APIRequest(method: method, path: "/v1/me", bearer: .account, idempotencyKey: key) { String(decoding: $0.body, as: UTF8.self) }
    }
}
