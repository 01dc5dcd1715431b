import Accounts
import FaceEngine
import Foundation
import HeliographCrypto
import TestSupport
import Testing

/// A person whom an installation knows in every way that it can know one, until the person is erased.
struct ErasedPerson: Sendable {
    /// A phone that the person has signed in on.
    struct Device: Sendable {
        let phone: Phone
        let sessionToken: String
        let access: String
        let refresh: String
    }

    static let email = "ada-zebra@example.org"
    static let name = "Ada Zebra-Quill"
    static let message = "The zebra says hello to Ben"
    /// The topic that the person owns.
    static let ownTopic = "event:party"
    /// The topic of another user that the person has joined.
    static let joinedTopic = "conversation:7"

    let stack: Stack
    let userID: UUID
    /// The phones; the last one is signed out again.
    let devices: [Device]
    /// The trace of the sign-ins, which the services log and send to the collector.
    let trace: String

    /// The phone that the person holds.
    var phone: Phone { devices[0].phone }
    /// Its access token.
    var bearer: String { devices[0].access }

    /// Makes the account, signs in on three phones and out on one.
    static func join(_ stack: Stack) async throws -> ErasedPerson {
        let phones = [try await Phone.make(stack), try await Phone.make(stack), try await Phone.make(stack)]
        let userID = try #require(UUID(uuidString: try await phones[0].enrol(email: email).userID))
        let trace = UUID().uuidString.lowercased().filter { $0 != "-" }
        var devices: [Device] = []
        // The phone that asks for the erasure is the last one: that needs a recent sign-in.
        for (number, phone) in phones.enumerated().reversed() {
            let login = try await phone.signIn(
                email: email, faces: Photos.sameFace, traceparent: "00-\(trace)-00f067aa0ba902b7-01", comment: "device \(number)")
            let outcome = try await phone.outcome(of: login)
            let grant = try await phone.redeem(login, email: email)
            devices.append(
                Device(
                    phone: phone, sessionToken: try #require(login.sessionToken),
                    access: try #require(grant.body["access_token"].text, "\(outcome) \(grant.body)"),
                    refresh: try #require(grant.body["refresh_token"].text)))
        }
        #expect((200...204).contains(try await phones[2].post("/api/v1/auth/logout", bearer: devices[0].access).status))
        return ErasedPerson(stack: stack, userID: userID, devices: devices.reversed(), trace: trace)
    }

    /// What is searched for.
    ///
    /// - Parameter pictures: What was made of the person's photos.
    func needles(_ pictures: Pictures, _ template: [UInt8]) async throws -> [Needle] {
        var needles: [Needle] = [
            .id("id", userID), .text("e-mail", Self.email), .text("name", Self.name), .text("message", Self.message),
            .pieces("template", of: template), .pieces("result", of: pictures.result), .pieces("thumbnail", of: pictures.thumbnail),
        ]
        for (number, device) in devices.enumerated() {
            let tokens = ["session token": device.sessionToken, "access token": device.access, "refresh token": device.refresh]
            for (kind, token) in tokens {
                needles += [.text("\(kind) \(number)", token), .bytes("hash of \(kind) \(number)", SHA256.hash(token))]
            }
            needles.append(.text("push token \(number)", device.phone.token))
        }
        for name in Photos.left + Photos.right + Photos.front + Photos.sameFace {
            needles.append(.pieces("photo \(name)", of: try Photos.load(name)))
        }
        return needles
    }

    /// Returns the opened template of the person's face.
    func template(_ keys: KeyRings) async throws -> [UInt8] {
        let hex = try await stack.database.psql("SELECT encode(template_sealed, 'hex') FROM face_templates WHERE user_id = '\(userID)'")
        let sealed = try #require(Hex.decode(hex))
        return try #require(keys.open(sealed, context: SealingContext.faceTemplate(userID: userID)))
    }

    /// Asks for the erasure, and returns where its receipt is read and by which token.
    func requestErasure() async throws -> (path: String, token: String) {
        let answer = try await phone.send("DELETE", "/v1/users/me", bearer: bearer)
        #expect(answer.status == 202, "\(answer.body)")
        let data = answer.body["data"]
        return (try #require(data["receipt_url"].text), try #require(data["receipt_token"].text))
    }
}
