internal import BlobStore
internal import FoundationEssentials
internal import HeliographCrypto
internal import Hummingbird
internal import Multipart
internal import NIOCore
internal import Storage
internal import WireFormat

/// The content of a complete upload.
struct ReceivedUpload: Sendable {
    var texts: [String: String] = [:]
    var photos: [SessionPhoto] = []
    /// The total size of all photos.
    var photoBytes = 0

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
    let blobs: any BlobStore
    let limits: UploadLimits

    /// Reads the whole body and checks it against the form.
    ///
    /// - Throws: ``APIError`` at the first fault. The caller then deletes the photos stored so far, which are under the session's prefix.
    func receive(_ body: inout MultipartBody) async throws -> ReceivedUpload {
        var upload = ReceivedUpload()
        var counts: [String: Int] = [:]
        while let piece = try await body.next() {
            guard case .part(let headers) = piece else { throw APIError.internal }
            if let field = form.photoFields.first(where: { $0.name == headers.name }) {
                counts[field.name, default: 0] += 1
                guard counts[field.name, default: 0] <= field.count else { throw Self.wrongCount(field) }
                let key = try blobKey(number: upload.photos.count + 1)
                let receiver = PhotoReceiver(blobs: blobs, limits: limits)
                let passed = try await receiver.receive(&body, as: key, field: field.name)
                upload.photoBytes += passed.byteCount
                upload.photos.append(SessionPhoto(key: key.name, pose: field.pose, sha256: Hex.encode(passed.sha256)))
            } else if form.textFields.contains(headers.name) {
                let text = try await body.readText(headers.name, limits)
                guard upload.texts.updateValue(text, forKey: headers.name) == nil else {
                    throw APIError(.invalidRequest, "A field is given twice", field: headers.name)
                }
            } else {
                // An app may send fields that this version does not know.
                try await body.skipPart()
            }
        }
        for field in form.photoFields {
            switch counts[field.name, default: 0] {
            case field.count: continue
            case 0: throw APIError(.missingField, "Photos are missing", field: field.name)
            default: throw Self.wrongCount(field)
            }
        }
        return upload
    }

    /// The prefix of all photos of a session.
    static func prefix(of sessionID: UUID) throws(BlobStoreError) -> BlobKey {
        try BlobKey("ekyc/\(sessionID.wireString)")
    }

    private func blobKey(number: Int) throws(BlobStoreError) -> BlobKey {
        try BlobKey("\(Self.prefix(of: sessionID).name)/\(number)")
    }

    private static func wrongCount(_ field: UploadForm.PhotoField) -> APIError {
        APIError(.invalidPhotoCount, "Exactly \(field.count) photos are needed", field: field.name)
    }
}
