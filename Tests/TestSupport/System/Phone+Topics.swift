public import Foundation
internal import HTTPClient
internal import Multipart

extension Phone {
    /// Enters a topic as `me`, which creates the topic or accepts an invitation, or invites another user by id.
    public func enter(_ topic: String, _ user: String = "me", bearer: String) async throws -> Answer {
        try await send(
            HTTPClientRequest(method: "PUT", url: "\(stack.apiURL)/v1/topics/\(topic)/members/\(user)"), bearer: bearer)
    }

    /// Adds a photo to a topic, as the app does.
    public func addPhoto(
        _ photo: [UInt8], to topic: String, requestID: UUID = UUID(), bearer: String
    ) async throws -> Answer {
        var form = MultipartForm()
        form.add("photo", file: "photo", photo)
        var request = HTTPClientRequest(method: "POST", url: "\(stack.apiURL)/v1/topics/\(topic)/photos")
        request.headers = [("Content-Type", form.contentType), ("X-Request-ID", requestID.uuidString)]
        request.body = form.encoded()
        return try await send(request, bearer: bearer)
    }
}
