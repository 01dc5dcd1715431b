import Foundation
import Testing

@testable import MobileClient

/// Sign-outs on devices that cannot read or write what they keep.
@Suite(.timeLimit(.minutes(5))) struct ClientSignOutTests {
    private let bench: ClientBench
    private let lock = Locked(LockableStore.Lock.none)

    init() throws { bench = try ClientBench() }

    private func client() throws -> HeliographClient {
        var storage = ClientStorage(files: bench.folder.url)
        storage.credentials = LockableStore(store: storage.credentials, lock: lock)
        return try bench.client(storage: storage)
    }

    private func signOut(_ client: HeliographClient) async -> Result<Bool, HeliographError>? {
        await bench.result {
            do throws(HeliographError) { return .success(try await client.signOut()) } catch { return .failure(error) }
        }
    }

    private func code(_ result: Result<Bool, HeliographError>?) -> HeliographError.Code? {
        if case .failure(let error)? = result { error.code } else { nil }
    }

    private func expectSignOut(of client: HeliographClient) async throws {
        let result = try #require(await signOut(client))
        _ = try result.get()
        #expect(try await client.credentials.session() == nil)
        #expect(bench.api.signedIn.isEmpty)
    }

    @Test func `a sign-out on a device that cannot tell who is signed in is refused, and holds when it can`() async throws {
        _ = try await bench.launch(as: "ada")
        let client = try client()
        lock.withLock { $0 = .reads }
        #expect(code(await signOut(client)) == .storage)
        lock.withLock { $0 = .none }
        #expect(try await client.credentials.session()?.userID == "ada")
        try await expectSignOut(of: client)
    }

    @Test func `a sign-out that cannot remove the sign-in says so`() async throws {
        let client = try client()
        try await client.start()
        try await client.parts.signIn(bench.api.signIn("ada", at: bench.time.now))
        lock.withLock { $0 = .writes }
        #expect(code(await signOut(client)) == .storage)
        #expect(try await client.credentials.session()?.userID == "ada")
        lock.withLock { $0 = .none }
        try await expectSignOut(of: client)
    }

    @Test func `a sign-out that cannot end sessions of a former process says so`() async throws {
        let process = ClientProcess(bench)
        let former = try await bench.launch(as: "ada", process)
        bench.isOffline.withLock { $0 = true }
        _ = try await former.ekyc.signUp(EKYCPhone.poses)
        process.end()
        bench.isOffline.withLock { $0 = false }
        let (tasks, hidden) = ("sessions/tasks", "sessions/hidden")
        try move(tasks, to: hidden)
        try Data().write(to: bench.folder.url.appending(path: tasks))
        let client = try client()
        #expect(code(await signOut(client)) == .storage)
        try FileManager.default.removeItem(at: bench.folder.url.appending(path: tasks))
        try move(hidden, to: tasks)
        _ = try await signOut(client)?.get()
        #expect(try await client.ekyc.pending().isEmpty)
    }

    private func move(_ name: String, to other: String) throws {
        let folder = bench.folder.url
        try FileManager.default.moveItem(at: folder.appending(path: name), to: folder.appending(path: other))
    }
}
