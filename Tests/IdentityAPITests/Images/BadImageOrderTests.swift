import Foundation
import HTTPClient
import JSON
import NIOCore
import TestSupport
import Testing

@testable import IdentityAPI

@Suite struct BadImageOrderTests {
    private static let svg = Array(#"<svg xmlns="http://www.w3.org/2000/svg"/>"#.utf8)
    private static let pdf = Array("%PDF-1.7\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF".utf8)
    private static let gif = Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0, 0x3B]
    private static let jpeg = TestPhoto.jpeg()

    private static let badOrders: [(order: Order, expected: String)] = [
        // The picture.
        (Order().with(picture: svg), "400 invalid_image image_base64"), (Order().with(picture: pdf), "400 invalid_image image_base64"),
        (Order().with(picture: gif), "400 invalid_image image_base64"), (Order().with(picture: []), "400 missing_field image_base64"),
        (Order().with(picture: Array(jpeg.prefix(30))), "400 invalid_image image_base64"),
        (Order().with(picture: TestPhoto.jpeg(width: 8_000, height: 6_250)), "400 invalid_image image_base64"),
        (Order().with(picture: TestPhoto.png(width: 12_001, height: 1)), "400 invalid_image image_base64"),
        (Order().with(picture: TestPhoto.animatedPNG), "400 invalid_image image_base64"),
        (Order().with(picture: jpeg, dataURI: "data:image/jpeg,"), "400 invalid_image image_base64"),
        (Order().with(picture: jpeg, dataURI: "!"), "400 invalid_image image_base64"),
        (Order().with(picture: [], dataURI: "data:image/jpeg;base64,"), "400 missing_field image_base64"),
        (Order(picture: nil).with(#""image_base64":"\u00e9""#), "400 invalid_image image_base64"),
        (Order(picture: nil).with(#""imageBase64":"\#(String(repeating: "A", count: 100_000))""#), "400 missing_field image_base64"),
        (Order().with(picture: jpeg, dataURI: "A"), "400 invalid_image image_base64"),
        (Order(picture: nil), "400 missing_field image_base64"),
        (Order(picture: nil).with(#""image_base64":null"#), "400 missing_field image_base64"),
        (Order(picture: nil).with(#""image_base64":5"#), "400 invalid_request image_base64"),
        // The template.
        (Order(templateID: nil), "400 missing_field template_id"), (Order(templateID: ""), "400 missing_field template_id"),
        (Order(templateID: "no-such-template"), "400 template_not_found template_id"),
        (Order(templateID: nil).with(#""template_id":"vintage\u0000""#), "400 invalid_request template_id"),
        (Order(templateID: String(repeating: "a", count: 65)), "400 template_not_found template_id"),
        (Order(templateID: nil).with(#""template_id":7"#), "400 invalid_request template_id"),
        // Options and the rest.
        (Order().with(#""options":{"width":15}"#), "400 invalid_request options.width"),
        (Order().with(#""options":{"width":512.5}"#), "400 invalid_request options.width"),
        (Order().with(#""options":{"height":4097}"#), "400 invalid_request options.height"),
        (Order().with(#""options":{"height":"512"}"#), "400 invalid_request options.height"),
        (Order().with(#""options":[]"#), "400 invalid_request options"), (Order().with(#""async":"maybe""#), "400 invalid_request async"),
        (Order().with(#""device_token":"with space""#), "400 invalid_request device_token"),
        (Order().with(#""template_id":"vintage""#), "400 invalid_request"), (Order().with("x"), "400 invalid_request"),
        (Order().with(#""device_token":"\#(String(repeating: "a", count: 20_000))""#), "400 invalid_request"),
    ]

    @Test(.api) func `bad input gets its exact error, and leaves nothing`() async throws {
        let customer = try await api.customer()
        for (number, (order, expected)) in Self.badOrders.enumerated() {
            let response = try await api.order(order, by: customer, headers: [("X-Request-ID", UUID().uuidString)])
            #expect(response.refusal == expected, "case \(number)")
            #expect(response.json.value("success") == false, "case \(number)")
            #expect(try await api.hasNoOrder(), "case \(number)")
        }
    }

    @Test(.api) func `the same faults in a form get the same errors`() async throws {
        let customer = try await api.customer()
        var twice = Order().form
        twice.parts.append(("image", "again.jpg", Self.jpeg))
        var options = Order().form
        options.text("options", "width=5")
        let cases: [(Form, String)] = [
            (Order().with(picture: Self.svg).form, "400 invalid_image image"), (Order(picture: nil).form, "400 missing_field image"),
            (Order(templateID: nil).form, "400 missing_field template_id"), (twice, "400 invalid_request image"),
            (options, "400 invalid_request options"),
        ]
        for (form, expected) in cases {
            #expect(try await api.send(form, to: Order.path, headers: [customer.bearer]).refusal == expected)
            #expect(try await api.hasNoOrder())
        }
    }

    @Test(.api) func `a request without a valid bearer, content type or key is refused`() async throws {
        let json = [("Content-Type", "application/json")]
        let customer = try await api.customer()
        #expect(try await api.send("POST", Order.path, headers: json, body: Order().json).refusal == "401 unauthorized")
        let wrong = try await api.order(by: Customer(userID: UUID(), token: "nonsense"))
        #expect(wrong.refusal == "401 unauthorized")
        let plain = try await api.send("POST", Order.path, headers: [customer.bearer, ("Content-Type", "text/plain")], body: [1])
        #expect(plain.refusal == "415 unsupported_media_type")
        #expect(try await api.send("GET", Order.path, headers: [customer.bearer]).refusal == "405 method_not_allowed")
        let key = try await api.order(by: customer, headers: [("Idempotency-Key", "a b")])
        #expect(key.refusal == "400 invalid_request Idempotency-Key")
        #expect(try await api.hasNoOrder())
    }

    @Test(.api) func `a picture over 10 MB is refused before it is decoded`() async throws {
        let customer = try await api.customer()
        let order = Order(picture: TestPhoto.jpeg(scanBytes: 10 * 1024 * 1024))
        #expect(try await api.order(order, by: customer).refusal == "413 payload_too_large image_base64")
        let form = try await api.send(order.form, to: Order.path, headers: [customer.bearer])
        #expect(form.refusal == "413 payload_too_large image")
        #expect(try await api.hasNoOrder())
    }

    @Test(.api) func `a body over 16 MB is refused before it is sent`() async throws {
        let customer = try await api.customer()
        let connection = try RawConnection(port: api.port)
        try await connection.post(
            Order.path, type: "application/json", length: (16 << 20) + 1, "Authorization: Bearer \(customer.token)",
            "Expect: 100-continue")
        let answer = try #require(try await connection.receive(until: "\"meta\""))
        #expect(answer.hasPrefix("HTTP/1.1 413 "))
    }

    private static let shares: [Double] = [0.3, 0.9]

    @Test(.api) func `a client that disconnects during its order leaves nothing`() async throws {
        let customer = try await api.customer()
        for share in Self.shares {
            let body = Order(picture: TestPhoto.jpeg(scanBytes: 500_000)).json
            let connection = try RawConnection(port: api.port)
            try await connection.post(
                Order.path, type: "application/json", length: body.count, "Authorization: Bearer \(customer.token)",
                "X-Request-ID: \(UUID())")
            try await connection.send(Array(body.prefix(Int(Double(body.count) * share))))
            try await eventually("something of the order is stored") { !api.storedFiles().isEmpty }
            connection.close()
            try await eventually("nothing of the order is left") { try await api.hasNoOrder() }
        }
    }

    @Test(
        .api {
            $0.connection.patience = .milliseconds(300)
            $0.connection.lingerTime = .seconds(20)
        })
    func `a client that stops sending is answered, and its key is free again`() async throws {
        let customer = try await api.customer()
        let body = Order(picture: TestPhoto.jpeg(scanBytes: 500_000)).json
        let connection = try RawConnection(port: api.port)
        try await connection.post(
            Order.path, type: "application/json", length: body.count, "Authorization: Bearer \(customer.token)",
            "X-Request-ID: \(UUID())")
        try await connection.send(Array(body.prefix(4_000)))
        let answer = try #require(try await connection.receive(until: "\"meta\""), "there is no answer")
        #expect(answer.hasPrefix("HTTP/1.1 408 "))
        #expect(try await api.hasNoOrder())
    }
}

extension TestPhoto {
    /// A PNG that announces more frames before its pixels.
    static let animatedPNG: [UInt8] = {
        let plain = png(width: 10, height: 10)
        let control = [0, 0, 0, 8] + Array("acTL".utf8) + [0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0] as [UInt8]
        // The chunk is inserted after the signature (8 bytes) and the header chunk (25 bytes).
        return Array(plain[..<33]) + control + Array(plain[33...])
    }()
}
