internal import Accounts
internal import FaceEngine
internal import FoundationEssentials
internal import HeliographCrypto
internal import WireFormat

/// The photos that a photo counts as a replay of.
enum ReplayCheck: String, Sendable, CaseIterable {
    /// Every photo with the same picture, or with a copy of it that was, for example, compressed again or cropped a little.
    case photos
    /// Of the same file only: for load tests, which send a few photos again and again with another comment in each file.
    case files
}

/// Makes the keyed fingerprints by which the photos of an account are recognised.
struct PhotoFingerprinter: Sendable {
    private let hashKey: HMACSHA256
    private let signatures: FaceSignatureHasher
    private let check: ReplayCheck

    init(sessionKey: [UInt8], check: ReplayCheck = .photos) {
        func key(_ name: String) -> [UInt8] { HMACSHA256.authenticate(Array("heliograph face photo \(name)".utf8), key: sessionKey) }
        hashKey = HMACSHA256(key: key("hash"))
        signatures = FaceSignatureHasher(key: key("signature"))
        self.check = check
    }

    /// Makes the fingerprints of a session's photos for a user, who need not exist.
    func fingerprints(of photos: [ExaminedPhoto], for userID: UUID) -> [PhotoFingerprint] {
        let user = userID.wireString
        return photos.map { photo in
            var (signature, mirrored): ([UInt8]?, [UInt8]?)
            if check == .photos, case .usable(let face) = photo.analysis {
                signature = signatures.hash(face.signature, account: user)
                mirrored = face.mirrorSignature.map { signatures.hash($0, account: user) }
            }
            return PhotoFingerprint(
                userID: userID, fileHash: hash("file", of: photo.digest, user),
                pixelHash: check == .photos ? photo.pixelDigest.map { hash("pixels", of: $0, user) } : nil, signature: signature,
                mirroredSignature: mirrored)
        }
    }

    private func hash(_ name: String, of digest: [UInt8], _ user: String) -> [UInt8] {
        hashKey.authenticate(Array("\(name):\(user):".utf8) + digest)
    }
}
