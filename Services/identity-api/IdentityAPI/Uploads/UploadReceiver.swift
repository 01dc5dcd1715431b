internal import Accounts
internal import BlobStore
internal import FoundationEssentials
internal import HeliographCrypto
internal import ImageProbe
internal import JSON

/// The content of a complete upload.
struct ReceivedUpload: Sendable {
    var texts: [String: String] = [:]
    var photos: [SessionPhoto] = []
    /// The total size of all photos.
    var photoBytes = 0
    /// The estimated time of face engines that the photos take.
    var cost = Duration.zero

    /// SHA-256 of the request: the text fields, the sender, and the photos of each pose in their order, independent of the order of
    /// fields in the form.
    ///
    /// - Parameter sender: The account of the bearer, which distinguishes senders whose fields are equal.
    func fingerprint(sender: String) -> [UInt8] {
        var hasher = SHA256.Hasher()
        // Only texts can contain a line feed, and their lengths are written before them.
        for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
            hasher.update(Array("\(name):\(text.utf8.count):\(text)\n".utf8))
        }
        hasher.update(Array("sender:\(sender)\n".utf8))
        for pose in SessionPhoto.Pose.allCases {
            for photo in photos where photo.pose == pose {
                hasher.update(Array("\(pose.rawValue):\(photo.sha256)\n".utf8))
            }
        }
        return hasher.finalize()
    }
}

/// Reads an upload: streams photos to the blob store and keeps text fields in memory.
struct UploadReceiver {
    let form: UploadForm
    let sessionID: UUID
    let pictures: PictureReceiver

    /// Reads the whole body and checks it against the form.
    ///
    /// - Throws: ``APIError`` at the first fault. The caller then deletes the photos stored so far, which are under the session's prefix.
    func receive(_ body: inout MultipartBody) async throws -> ReceivedUpload {
        var upload = ReceivedUpload()
        var counts: [String: Int] = [:]
        while let piece = try await body.next() {
            switch piece {
            case .field(let name, .string(let text)):
                guard upload.texts.updateValue(text, forKey: name) == nil else {
                    throw APIError(.invalidRequest, "A field is given twice", field: name)
                }
            case .pictureBegan(let name):
                guard let field = form.photoFields.first(where: { $0.name == name }) else { throw APIError.internal }
                counts[name, default: 0] += 1
                if counts[name, default: 0] > field.count { try field.check(counts[name, default: 0], of: field.count) }
                let key = try BlobFolder.sessions.key("\(upload.photos.count + 1)", of: sessionID)
                let passed = try await pictures.receive(&body, field: name, as: key)
                upload.photoBytes += passed.byteCount
                upload.cost += passed.info.cost + SessionRepository.photoCost
                upload.photos.append(SessionPhoto(key: key.name, pose: field.pose, sha256: Hex.encode(passed.sha256)))
            case .field, .pictureData, .pictureEnded:
                throw APIError.internal
            }
        }
        // A retake has the photos that its failed session has named, which is looked up later.
        for field in form.photoFields where upload.retakeOf == nil {
            guard let given = counts[field.name] else {
                if !field.isOptional { try field.check(0, of: field.count) }
                continue
            }
            try field.check(given, of: field.count)
        }
        return upload
    }
}
