internal import BlobStore
internal import FoundationEssentials
internal import HeliographCrypto
internal import Hummingbird
internal import Multipart
internal import NIOCore
internal import Storage

/// What an upload brought.
struct ReceivedUpload: Sendable {
    var texts: [String: String] = [:]
    var photos: [SessionPhoto] = []
}

/// Reads an upload: photos go to the blob store as they arrive, plain fields are kept.
struct UploadReceiver {
    /// The most characters of an unknown field's name that are repeated to the client.
    private static let maxEchoedName = 64

    let form: UploadForm
    let sessionID: UUID
    let blobs: any BlobStore
    let limits: UploadLimits

    /// Reads the whole body and checks that it is what the form asks for.
    ///
    /// - Throws: ``APIError`` at the first thing that is wrong. What was stored by then is up to the caller, who
    ///   deletes everything under the session's prefix.
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
                upload.photos.append(SessionPhoto(key: key.name, pose: field.pose, sha256: Hex.encode(passed.sha256)))
            } else if form.textFields.contains(headers.name) {
                let text = try await body.readText(headers.name, limits)
                guard upload.texts.updateValue(text, forKey: headers.name) == nil else {
                    throw APIError(.invalidRequest, "A field is given twice", field: headers.name)
                }
            } else {
                let name = String(headers.name.prefix(Self.maxEchoedName))
                throw APIError(.invalidRequest, "The form has a field that is not known here", field: name)
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

    /// The prefix of everything an upload stores.
    static func prefix(of sessionID: UUID) throws(BlobStoreError) -> BlobKey {
        try BlobKey("ekyc/\(sessionID.uuidString.lowercased())")
    }

    private func blobKey(number: Int) throws(BlobStoreError) -> BlobKey {
        try BlobKey("\(Self.prefix(of: sessionID).name)/\(number)")
    }

    private static func wrongCount(_ field: UploadForm.PhotoField) -> APIError {
        APIError(.invalidPhotoCount, "Exactly \(field.count) photos are needed", field: field.name)
    }
}
