import Foundation
import Testing

@testable import MobileClient

/// ``BackgroundUploads`` on a full disk, with the credentials of an account, and at its own end.
@Suite struct BackgroundUploadTroubleTests {
    private let phone: UploadPhone

    init() throws { phone = try UploadPhone() }

    @Test func `the app gets an outcome that the disk had no space for once it is written`() async throws {
        let uploads = try phone.launch()
        let order = try phone.order()
        try await uploads.enqueue(order)
        let task = try await phone.waitForTasks()[0]
        phone.isDiskFull.withLock { $0 = true }
        phone.system.finish(task)
        await phone.time.waitForSleepers()
        #expect(await uploads.runner.state.uploads[order.id]?.phase == .saving(.accepted(jobID: "job-0")))
        #expect(phone.files.count == 2)
        phone.isDiskFull.withLock { $0 = false }
        phone.time.advance(by: BackgroundUploads.saveTime)
        #expect(try await uploads.outcome(of: order.id) == "job-0")
        #expect(phone.files.count == 1)
    }

    @Test func `an order that the disk has no space for is refused, and leaves nothing`() async throws {
        let uploads = try phone.launch()
        try await uploads.start()
        phone.isDiskFull.withLock { $0 = true }
        let order = try phone.order()
        let error = await #expect(throws: HeliographError.self) { try await uploads.enqueue(order) }
        #expect(error?.code == .storage && phone.files.isEmpty && phone.system.liveTasks.isEmpty)
        phone.isDiskFull.withLock { $0 = false }
        try await uploads.enqueue(order)
        phone.system.finish(try await phone.waitForTasks()[0])
        #expect(try await uploads.outcome(of: order.id) == "job-0")
    }

    @Test func `a record that cannot be read is removed with its file`() async throws {
        let order = try phone.order()
        let store = PendingTaskStore(folder: phone.store, time: phone.time.source)
        let file = try await store.newFile(extension: "upload")
        try Data("picture".utf8).write(to: file)
        let task = PendingTask(
            id: order.id, kind: .imageUpload, createdAt: phone.time.now, payload: Data("{}".utf8), files: [store.path(of: file)])
        try await store.update(order.id) { $0 = task }
        let uploads = try phone.launch()
        try await uploads.start()
        #expect(phone.files.isEmpty)
    }

    @Test func `a file that has gone ends its order`() async throws {
        let order = try phone.order()
        let life = ProcessLife()
        let first = try phone.launch(life)
        try await first.enqueue(order)
        _ = try await phone.waitForTasks()
        life.end()
        phone.system.forceQuit()
        for file in phone.files where file.contains("/files/") {
            try FileManager.default.removeItem(at: phone.folder.url.appending(path: file))
        }
        let second = try phone.launch()
        let error = await #expect(throws: HeliographError.self) { try await second.outcome(of: order.id) }
        #expect(error?.code == .storage && phone.system.liveTasks.isEmpty)
    }

    @Test func `a driver that is not in use any more goes`() async throws {
        weak var weakly: BackgroundUploads?
        do {
            let uploads = try phone.launch()
            try await uploads.enqueue(try phone.order())
            _ = try await phone.waitForTasks()
            weakly = uploads
        }
        await until { weakly == nil }
    }

    // MARK: Bearers

    private func credentials(_ refresh: @escaping @Sendable (String, Duration) async -> TokenRenewal.Answer) throws -> AccountCredentials {
        AccountCredentials(
            store: FileCredentialStore(file: phone.folder.url.appending(path: "credentials")), firebase: nil, time: phone.time.source,
            refresh: refresh)
    }

    @Test func `bearers are those of the account, and a refused one is renewed`() async throws {
        let credentials = try credentials { _, _ in
            .tokens(AccountTokens(accessToken: "second", refreshToken: "r2", expiresIn: 3_600, userID: "user"))
        }
        let bearers = UploadBearers(credentials)
        let error = await #expect(throws: HeliographError.self) { try await bearers.current() }
        #expect(error?.code == .signedOut)
        try await credentials.signIn(AccountTokens(accessToken: "first", refreshToken: "r1", expiresIn: 3_600, userID: "user"))
        let first = try await bearers.current()
        #expect(first.token == "first" && first.owner == "user")
        // A token that is new is not renewed.
        #expect(try await bearers.replacement(first) == first)
        phone.time.advance(by: .seconds(1_800))
        let second = try await bearers.replacement(first)
        #expect(second.token == "second" && second.owner == "user")
    }

    @Test func `a bearer is not replaced by one of the next account`() async throws {
        let credentials = try credentials { _, _ in .refused }
        let bearers = UploadBearers(credentials)
        try await credentials.signIn(AccountTokens(accessToken: "first", refreshToken: "r1", expiresIn: 3_600, userID: "user"))
        let first = try await bearers.current()
        try await credentials.signIn(AccountTokens(accessToken: "next", refreshToken: "r2", expiresIn: 3_600, userID: "next"))
        let error = await #expect(throws: HeliographError.self) { try await bearers.replacement(first) }
        #expect(error?.code == .signedOut)
    }
}
