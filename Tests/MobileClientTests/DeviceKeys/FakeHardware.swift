import Foundation

@testable import MobileClient

/// The secure hardware of a phone, whose signatures no test reads: those of real keys are checked together with the API.
final class FakeHardware: DeviceKeyMaker {
    private struct Key: DeviceSigningKey {
        let archive: Data
        let isInHardware = true

        var publicPoint: Data { archive + archive }

        func signature(of message: Data) throws -> Data { Data(count: 64) }
    }

    private let keys = Locked<Set<Data>>([])

    /// The number of keys that were made and not lost.
    var count: Int { keys.withLock { $0.count } }

    func makeKey() throws -> any DeviceSigningKey {
        let archive = Data((UUID().uuidString).utf8.prefix(32))
        keys.withLock { _ = $0.insert(archive) }
        return Key(archive: archive)
    }

    func key(from archive: Data) throws -> any DeviceSigningKey {
        guard keys.withLock({ $0.contains(archive) }) else { throw DeviceKeyLoss() }
        return Key(archive: archive)
    }

    /// Tells texts apart; no SHA-256.
    func sha256(_ data: Data) -> Data { Data((data + Data(count: 32)).prefix(32)) }

    /// Loses all keys, as a phone whose app was restored from another one.
    func loseKeys() { keys.withLock { $0 = [] } }
}
