internal import HTTPClient
internal import Multipart

extension Phone {
    /// Uploads nine photos; the names are those of `.cache/photos`.
    ///
    /// - Parameters:
    ///   - address: The client's address, as a trusted proxy sends it.
    ///   - key: The idempotency key.
    ///   - comment: Makes other files of the photos.
    ///   - answer: The challenge that the sign-up answers.
    ///   - bearer: Authorises the sign-up in place of an e-mail.
    ///   - proof: A proof of a device's key.
    public func signUp(
        email: String?, left: [String] = Photos.left, right: [String] = Photos.right, front: [String] = Photos.front,
        address: String? = nil, key: String? = nil, comment: String = "", answering answer: ChallengeAnswer? = nil, bearer: String? = nil,
        proof: String? = nil
    ) async throws -> Answer {
        var form = MultipartForm()
        if let answer {
            form.add("challenge_id", answer.id)
            for photo in answer.photos { form.add("challenge_photos", file: "photo", photo) }
        }
        form.add("fcm_token", token)
        if let email { form.add("email", email) }
        for (field, names) in [("left_faces", left), ("right_faces", right), ("front_faces", front)] {
            for name in names { form.add(field, file: name, try Photos.load(name, comment: comment)) }
        }
        let headers = [("X-Forwarded-For", address), ("Idempotency-Key", key), ("DPoP", proof)]
        return try await post(
            "/api/v1/ekyc/upload-photos", form, headers: headers.compactMap { name, value in value.map { (name, $0) } }, bearer: bearer)
    }

    /// Sends a form that is encoded already.
    public func upload(to path: String, contentType: String, _ body: [UInt8]) async throws -> Answer {
        var request = HTTPClientRequest(method: "POST", url: stack.apiURL + path)
        request.headers = [("Content-Type", contentType)]
        request.body = body
        return try await send(request)
    }

    /// Uploads three photos.
    ///
    /// - Parameters:
    ///   - address: The client's address, as a trusted proxy sends it.
    ///   - comment: Makes other files of the photos.
    public func signIn(
        email: String, faces: [String], traceparent: String? = nil, address: String? = nil, comment: String = ""
    ) async throws -> Answer {
        let photos = try faces.map { try Photos.load($0, comment: comment) }
        return try await signIn(email: email, photos: photos, traceparent: traceparent, address: address)
    }

    /// Uploads the photos that answer a challenge for a sign-in.
    public func signIn(email: String, answering answer: ChallengeAnswer) async throws -> Answer {
        try await signIn(email: email, photos: answer.photos, challenge: answer.id)
    }

    /// Uploads photos for a sign-in.
    ///
    /// - Parameters:
    ///   - challenge: The id of the challenge that the photos answer.
    ///   - bearer: An enrolment token, which proves the e-mail.
    ///   - key: The idempotency key.
    ///   - device: The key of the phone.
    public func signIn(
        email: String, photos: [[UInt8]], traceparent: String? = nil, address: String? = nil, challenge: String? = nil,
        bearer: String? = nil, key: String? = nil, by device: DeviceSigner? = nil
    ) async throws -> Answer {
        var form = MultipartForm()
        if let challenge { form.add("challenge_id", challenge) }
        form.add("email", email)
        form.add("fcm_token", token)
        for photo in photos { form.add("faces", file: "photo", photo) }
        let path = "/api/v1/ekyc/login"
        let proof = try device?.proof(DeviceSigner.Claims("POST", Stack.publicURL + path, token: bearer))
        let headers = [("traceparent", traceparent), ("X-Forwarded-For", address), ("Idempotency-Key", key), ("DPoP", proof)]
        return try await post(
            path, form, headers: headers.compactMap { name, value in value.map { (name, $0) } }, bearer: bearer)
    }

    /// Uploads new photos in place of the bad ones of a failed sign-up or sign-in, in their order.
    ///
    /// - Parameters:
    ///   - failed: The answer that began the failed session; the photos that it keeps can be retaken on any phone that has its token.
    ///   - photos: The photos with their fields.
    ///   - key: The idempotency key.
    public func retake(
        _ failed: Answer, of event: String, email: String, with photos: [(field: String, file: [UInt8])], key: String? = nil
    ) async throws -> Answer {
        var form = MultipartForm()
        form.add("email", email)
        form.add("fcm_token", token)
        form.add("retake_of", failed.sessionID)
        for photo in photos { form.add(photo.field, file: "photo", photo.file) }
        let headers = [("X-Session-Token", failed.sessionToken), ("Idempotency-Key", key)]
        return try await post(
            event == "sign_up" ? "/api/v1/ekyc/upload-photos" : "/api/v1/ekyc/login", form,
            headers: headers.compactMap { name, value in value.map { (name, $0) } })
    }
}
