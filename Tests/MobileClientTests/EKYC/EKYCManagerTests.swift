import Foundation
import Testing

@testable import MobileClient

/// Several sessions of a device, and sign-outs.
@Suite struct EKYCManagerTests {
    private let phone: EKYCPhone

    init() throws { phone = try EKYCPhone() }

    private func signIn(_ process: EKYCPhone.Process) async throws -> EKYCSession {
        try await process.client.signIn(EKYCPhone.faces, email: "a@b.example")
    }

    @Test func `a second sign-in supersedes the first`() async throws {
        let process = phone.launch()
        let first = try await signIn(process)
        await phone.time.waitForSleepers()
        let second = try await signIn(process)
        #expect(await first.result() == .superseded)
        while phone.server.sessions.last?.redemptions != 1 {
            await phone.time.waitForSleepers()
            phone.time.advance(by: .seconds(3))
            if phone.server.sessions.count == 2 { await process.manager.pushArrived(sessionID: phone.server.sessions[1].id.wireText) }
        }
        #expect(await second.result() == .signedIn(userID: "user-1"))
        #expect(await phone.credentials.stored.map(\.accessToken) == ["access-1"])
        #expect(phone.server.sessions.map(\.redemptions) == [0, 1])
    }

    @Test func `of sign-ins that are begun at once one goes on`() async throws {
        let process = phone.launch(isInstant: true)
        let outcomes = try await withThrowingTaskGroup { group in
            for _ in 0..<8 { group.addTask { try await signIn(process).taken() } }
            return try await group.reduce(into: [EKYCSession.Outcome: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(outcomes == [.superseded: 7, .signedIn(userID: "user-1"): 1])
        #expect(await phone.credentials.stored.count == 1)
        #expect(try await process.client.pending().isEmpty)
        #expect(phone.leftovers == [])
    }

    @Test func `a sign-in does not end a sign-up by e-mail`() async throws {
        let process = phone.launch(isInstant: true)
        phone.server.plan { $0.asksBeforeDecision = 5 }
        let signUp = try await process.client.signUp(EKYCPhone.poses, email: "a@b.example")
        let signIn = try await signIn(process)
        #expect(await signUp.result() == .enrolled(awaiting: nil))
        #expect(await signIn.result() == .signedIn(userID: "user-1"))
    }

    @Test func `a sign-out ends all sessions before it returns`() async throws {
        let process = phone.launch()
        let sessions = [try await signIn(process), try await process.client.signUp(EKYCPhone.poses, as: .account)]
        await phone.time.waitForSleepers(2)
        try await process.manager.signedOut()
        #expect(phone.leftovers == [])
        for session in sessions { #expect(await session.result() == .signedOut) }
        for session in phone.server.sessions { await process.manager.pushArrived(sessionID: session.id.wireText) }
        phone.time.advance(by: .seconds(60))
        #expect(await process.sender.sent.count == 2)
    }

    @Test func `tokens that arrive after a sign-out are signed out, and not stored`() async throws {
        phone.server.plan { $0.asksBeforeDecision = 0 }
        let (reached, reach) = AsyncStream.makeStream(of: Void.self)
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let process = phone.launch(beforeAnswer: { sent in
            guard sent.path.hasSuffix("/token") else { return }
            reach.yield()
            for await _ in released { break }
        })
        let session = try await signIn(process)
        await phone.time.waitForSleepers()
        phone.time.advance(by: .seconds(3))
        for await _ in reached { break }
        try await process.manager.signedOut()
        #expect(await session.result() == .signedOut)
        release.yield()
        await until { !phone.server.loggedOutTokens.isEmpty }
        #expect(phone.server.loggedOutTokens == [#"token("access-0")"#])
        #expect(await phone.credentials.stored.isEmpty)
    }

    @Test func `an upload in the name of an account ends when another signs in`() async throws {
        phone.server.plan { $0.uploadRefusals = [EKYCServer.lost] }
        let process = phone.launch()
        let signUp = try await process.client.signUp(EKYCPhone.poses, as: .account)
        await phone.time.waitForSleepers()
        phone.server.plan { $0.asksBeforeDecision = 0 }
        let signIn = try await signIn(process)
        await phone.time.waitForSleepers(2)
        await process.manager.pushArrived(sessionID: try #require(phone.server.sessions.last).id.wireText)
        #expect(await signIn.result() == .signedIn(userID: "user-1"))
        #expect(await signUp.result() == .superseded)
        #expect(phone.server.sessions.map(\.isSignIn) == [true])
    }

    @Test func `an enrolment is uploaded by its token, also by the next process`() async throws {
        phone.server.plan { $0.uploadRefusals = [EKYCServer.lost] }
        let life = EKYCLife()
        let owner = EKYCClient.Owner.enrolment(token: "enrolment-token", isRecovery: true)
        _ = try await phone.launch(life).client.signUp(EKYCPhone.poses, as: owner)
        await phone.time.waitForSleepers()
        life.kill()
        let tasks = try #require(phone.leftovers.first { $0.hasPrefix("pending/tasks/") })
        let record = try Data(contentsOf: phone.folder.url.appending(path: tasks))
        #expect(!String(decoding: record, as: UTF8.self).contains("enrolment-token"))
        let second = phone.launch(isInstant: true)
        #expect(await (try second.client.pending()).first?.result() == .enrolled(awaiting: nil))
        let upload = try #require(await second.sender.sent.first)
        #expect(upload.bearer == #"token("enrolment-token")"#)
        #expect(String(decoding: upload.body ?? Data(), as: UTF8.self).contains("\"recovery\"\r\n\r\ntrue\r\n"))
    }

    @Test func `a sign-in with a proven address is uploaded with its proof`() async throws {
        let process = phone.launch(isInstant: true)
        let session = try await process.client.signIn(EKYCPhone.faces, email: "a@b.example", provenBy: "enrolment-token")
        #expect(await session.result() == .signedIn(userID: "user-1"))
        let upload = try #require(await process.sender.sent.first)
        #expect(upload.bearer == #"token("enrolment-token")"#)
        #expect(String(decoding: upload.body ?? Data(), as: UTF8.self).contains("\"email\"\r\n\r\na@b.example\r\n"))
        await #expect(throws: HeliographError.self) {
            try await process.client.signIn(EKYCPhone.faces, email: "a@b.example", provenBy: "no token")
        }
    }

    @Test func `a sign-up with an address alone says what verifies it, and fetches no tokens`() async throws {
        let verification = UUID()
        phone.server.plan { $0.decision = #""state":"succeeded","verification_id":"\#(verification.wireText)","reference":"KFTM""# }
        let process = phone.launch(isInstant: true)
        let session = try await process.client.signUp(EKYCPhone.poses, email: "a@b.example", consent: "v 2")
        let awaited = EKYCSession.AwaitedCode(verificationID: verification, reference: "KFTM")
        #expect(await session.result() == .enrolled(awaiting: awaited))
        #expect(await process.sender.sent.filter { $0.method == "POST" }.count == 1)
        let body = String(decoding: try #require(await process.sender.sent.filter { $0.method == "POST" }.first?.body), as: UTF8.self)
        for field in ["\"email\"\r\n\r\na@b.example\r\n", "\"consent_version\"\r\n\r\nv 2\r\n", "\"fcm_token\"\r\n\r\npush-token\r\n"] {
            #expect(body.contains(field))
        }
        for field in ["left_faces", "right_faces", "front_faces"] { #expect(body.components(separatedBy: "\"\(field)\"").count == 4) }
    }
}
