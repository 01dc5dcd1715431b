import Foundation
import Testing

@testable import MobileClient

@Suite struct RegistrationFileTests {
    private let folder: TemporaryFolder
    private let old = TokenRegistrarReducer.Registration(signIn: "s1", fingerprint: "old", at: Date(timeIntervalSince1970: 1))
    private let new = TokenRegistrarReducer.Registration(signIn: "s1", fingerprint: "new", at: Date(timeIntervalSince1970: 2))

    init() throws { folder = try TemporaryFolder() }

    private func file(_ name: String, _ fault: FaultyFiles.Fault? = nil) -> RegistrationFile {
        RegistrationFile(url: folder.url.appending(path: name), operations: FaultyFiles(fault))
    }

    @Test func `what was saved is loaded, until it is put in doubt`() {
        let file = file("r.json")
        #expect(file.load() == nil)
        file.save(new)
        #expect(file.load() == new)
        file.save(nil)
        #expect(file.load() == nil && folder.files.isEmpty)
    }

    @Test(arguments: 1...3) func `a full disk leaves no record that is not true any more`(step: Int) {
        file("\(step).json").save(old)
        file("\(step).json", .fail(step: step)).save(new)
        #expect([nil, new].contains(file("\(step).json").load()))
        #expect(folder.files.allSatisfy { !$0.hasSuffix(".new") })
    }

    @Test(arguments: 1...3) func `after an end of the process there is the old record or the new one`(step: Int) {
        file("\(step).json").save(old)
        file("\(step).json", .crash(step: step, bytes: 7)).save(new)
        #expect([old, new].contains(file("\(step).json").load()))
    }

    // It may be the app group's own, and have other files of the app in it.
    @Test func `the folder that the file is in stays in backups`() {
        let made = Locked<[URL]>([])
        struct Files: GuardedFiles {
            let made: Locked<[URL]>

            func access<Result>(_ access: FileAccess, _ body: () throws -> Result) throws -> Result { try body() }
            func createFolder(_ folder: URL) throws { made.withLock { $0.append(folder) } }
        }
        let file = RegistrationFile(url: folder.url.appending(path: "new/r.json"), operations: Files(made: made))
        file.save(new)
        #expect(file.load() == new && made.withLock { $0 }.isEmpty)
    }

    @Test func `fingerprints differ where anything of a registration does, and are the same in each process`() {
        let device = TokenRegistrarReducer.Device(token: "t1", platform: "ios", appVersion: "1", locale: "de")
        let order = TokenRegistrarReducer.Order(signIn: "s1", device: device)
        var others = [order]
        others.append(.init(signIn: "s2", device: device))
        others.append(.init(signIn: "s1", device: .init(token: "t2", platform: "ios", appVersion: "1", locale: "de")))
        others.append(.init(signIn: "s1", device: .init(token: "t1", platform: "web", appVersion: "1", locale: "de")))
        others.append(.init(signIn: "s1", device: .init(token: "t1", platform: "ios", appVersion: "2", locale: "de")))
        others.append(.init(signIn: "s1", device: .init(token: "t1", platform: "ios", appVersion: "1", locale: nil)))
        others.append(.init(signIn: "s1", device: .init(token: "t1", platform: "ios", appVersion: "1d", locale: "e")))
        #expect(Set(others.map(\.fingerprint)).count == others.count)
        #expect(order.fingerprint == "739e88c7a9c6b67")
    }
}
