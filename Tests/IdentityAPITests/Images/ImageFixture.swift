import Accounts
import BlobStore
import Foundation
import HTTPClient
import HeliographCrypto
import JSON
import NIOCore
import Pictures
import PostgresClient
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

/// An order of a picture, valid or invalid, as JSON or as a form.
struct Order: Sendable {
    var templateID: String? = "anime-style"
    var picture: [UInt8]? = TestPhoto.jpeg()
    var dataURI: String? = "data:image/jpeg;base64,"
    /// The number of characters per line of base64, which is an option on iOS; nil for one line.
    var lineLength: Int?
    /// The other members of the JSON, each as `"name":value`.
    var others: [String] = []

    static let path = "/v1/images/process"

    func with(_ member: String) -> Order {
        var order = self
        order.others.append(member)
        return order
    }

    func with(picture: [UInt8], dataURI: String? = nil) -> Order {
        var order = self
        (order.picture, order.dataURI) = (picture, dataURI)
        return order
    }

    /// The body as JSON; iOS writes slashes with a backslash.
    var json: [UInt8] {
        var members = others
        if let templateID { members.append(#""template_id":"\#(templateID)""#) }
        if let picture {
            var base64 = Data(picture).base64EncodedString()
            if let lineLength {
                let lines: Data.Base64EncodingOptions = lineLength == 64 ? .lineLength64Characters : .lineLength76Characters
                base64 = Data(picture).base64EncodedString(options: lines)
            }
            let text = ((dataURI ?? "") + base64).replacingOccurrences(of: "/", with: "\\/")
            members.append(#""image_base64":"\#(text.replacingOccurrences(of: "\r\n", with: #"\r\n"#))""#)
        }
        return Array("{\(members.joined(separator: ","))}".utf8)
    }

    /// The order as a form, without the other members.
    var form: Form {
        var form = Form()
        if let templateID { form.text("template_id", templateID) }
        if let picture { form.parts.append(("image", "portrait.jpg", picture)) }
        return form
    }
}

/// A signed-in user, who may order pictures.
struct Customer: Sendable {
    let userID: UUID
    let token: String

    var bearer: (name: String, value: String) { ("Authorization", "Bearer \(token)") }
}

extension IdentityFixture {
    /// Creates an account with a sign-in.
    func customer(_ name: String = "somebody") async throws -> Customer {
        let user = try await postgres.makeUser(emailLookup: SHA256.hash(name), emailSealed: [1])
        let token = OpaqueToken.generate()
        try await AccessTokenRepository(postgres).insert(
            NewAccessToken(
                userID: user.id, sessionID: UUID(), accessHash: token.hash, refreshHash: OpaqueToken.generate().hash,
                installationKey: nil, lifetimes: SignInLifetimes(access: .seconds(600), idle: .seconds(600))))
        return Customer(userID: user.id, token: token.text)
    }

    func order(
        _ order: Order = Order(), by customer: Customer, headers: [(name: String, value: String)] = []
    ) async throws -> HTTPClientResponse {
        let headers = [customer.bearer, ("Content-Type", "application/json")] + headers
        return try await send("POST", Order.path, headers: headers, body: order.json)
    }

    /// Orders a picture and returns the job's id.
    func job(_ order: Order = Order(), by customer: Customer) async throws -> UUID {
        let response = try await self.order(order, by: customer)
        guard response.status == 202, let id = UUID(uuidString: response.json.text("data.job_id") ?? "") else {
            throw UnexpectedAnswer(response: response)
        }
        return id
    }

    func get(
        _ path: String, by customer: Customer, headers: [(name: String, value: String)] = []
    ) async throws -> HTTPClientResponse {
        try await send("GET", path, headers: [customer.bearer] + headers)
    }

    /// Completes a job as a worker does, with any bytes as the picture.
    func complete(_ id: UUID, picture: [UInt8] = [0xFF, 0xD8, 1, 2, 3], format: String = "jpeg") async throws {
        let repository = ImageJobRepository(postgres)
        #expect(try await repository.begin(id: id) != nil)
        let type = try #require(PictureType(rawValue: format))
        let result = "images/\(id.wireString)/result-abc.\(type.fileExtension)"
        let thumbnail = "images/\(id.wireString)/thumbnail-def.jpg"
        let blobs = try context.blobStore(.pictures)
        for key in [result, thumbnail] {
            try await blobs.write(try BlobKey(key), as: .media(contentType: type.mimeType)) { writer in
                try await writer.append(ByteBuffer(bytes: picture))
            }
        }
        let isDone = try await repository.complete(
            id: id,
            result: ImageJob.Result(
                key: result, format: format, byteCount: picture.count, width: 512, height: 384, originalWidth: 640,
                originalHeight: 480, thumbnailKey: thumbnail, modelUsed: "local", generationTimeMs: 1_234))
        #expect(isDone)
    }

    /// Fails a job as a worker does, even if the test has given another worker its lease.
    func fail(_ id: UUID) async throws {
        let failure = ImageJob.Failure(code: .contentBlocked, message: "This picture cannot be worked on.")
        let (repository, worker) = (ImageJobRepository(postgres), UUID())
        try await postgres.execute("UPDATE image_jobs SET worker = NULL, lease_until = NULL WHERE id = \(id)")
        #expect(try await repository.begin(id: id, worker: worker) != nil)
        #expect(try await repository.fail(id: id, worker: worker, failure))
    }

    /// Returns whether a refused order has left no rows and no files.
    func hasNoOrder() async throws -> Bool {
        let rows = try await count("image_jobs") + count("outbox") + count("idempotency_keys")
        return rows == 0 && storedFiles().isEmpty
    }
}

extension Path {
    static let jobs = "/v1/images/jobs"

    static func job(_ id: UUID) -> String { "\(jobs)/\(id.wireString)" }
}
