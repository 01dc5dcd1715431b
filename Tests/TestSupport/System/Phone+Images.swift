public import Foundation
public import HTTPClient
internal import Multipart

extension Phone {
    /// Makes an account with this phone's face, signs in, and returns the access token.
    public func accessToken() async throws -> String {
        let email = "painter-\(UUID().uuidString)@example.org"
        _ = try await enrol(email: email)
        let login = try await signIn(email: email, faces: Photos.sameFace)
        _ = try await outcome(of: login)
        let grant = try await redeem(login, email: email)
        guard let token = grant.body["access_token"].text else {
            throw DeadlineExceeded(description: "no access token was given: \(grant.status)")
        }
        return token
    }

    /// Submits a picture as the app does, and returns the job's answer.
    public func submit(
        _ picture: [UInt8], template: String, options: String? = nil, requestID: UUID = UUID(), bearer: String
    ) async throws -> Answer {
        var form = MultipartForm()
        form.add("template_id", template)
        if let options { form.add("options", options) }
        form.add("image", file: "picture", picture)
        var request = HTTPClientRequest(method: "POST", url: stack.apiURL + "/v1/images/process")
        request.headers = [("Content-Type", form.contentType), ("X-Request-ID", requestID.uuidString)]
        request.body = form.encoded()
        return try await send(request, bearer: bearer)
    }

    /// Waits until a job has ended, and returns its data.
    public func job(_ id: String, bearer: String, query: String = "") async throws -> JSONAnswer {
        try await eventually(within: .seconds(300), "job \(id) ends; worker: \(stack.tail(of: "image-worker"))") {
            let data = try await get("/v1/images/jobs/\(id)?wait=30\(query)", bearer: bearer).body["data"]
            return ["completed", "failed"].contains(data["status"].text) ? data : nil
        }
    }

    /// Fetches a picture that a push links to, as the phone's notification extension does: without any credential.
    public func fetch(link: String) async throws -> HTTPClientResponse {
        let url = link.replacingOccurrences(of: Stack.publicURL, with: stack.apiURL)
        return try await stack.http.execute(HTTPClientRequest(url: url, timeout: .seconds(100)))
    }
}

extension Answer {
    /// The id of the accepted job.
    public var jobID: String { body["data"]["job_id"].text ?? "" }
}
