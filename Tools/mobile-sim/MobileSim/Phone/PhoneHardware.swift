internal import Foundation
internal import HeliographCrypto
internal import MobileClient
internal import Synchronization

/// The secure hardware of a phone: keys stay in it, and outlive the app.
final class PhoneHardware: DeviceKeyMaker {
    private struct Key: DeviceSigningKey {
        let archive: Data
        let key: P256PrivateKey
        let isInHardware = true

        var publicPoint: Data { Data(key.coordinates.x + key.coordinates.y) }

        func signature(of message: Data) throws -> Data { Data(try key.signES256(Array(message))) }
    }

    private let keys = Mutex<[Data: P256PrivateKey]>([:])

    func makeKey() throws -> any DeviceSigningKey {
        let (archive, key) = (Data(UUID().uuidString.utf8), try P256PrivateKey())
        keys.withLock { $0[archive] = key }
        return Key(archive: archive, key: key)
    }

    func key(from archive: Data) throws -> any DeviceSigningKey {
        guard let key = keys.withLock({ $0[archive] }) else { throw DeviceKeyLoss() }
        return Key(archive: archive, key: key)
    }

    func sha256(_ data: Data) -> Data { Data(SHA256.hash(Array(data))) }
}
