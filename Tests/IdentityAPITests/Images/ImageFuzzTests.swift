import Foundation
import HTTPClient
import TestSupport
import Testing

@testable import IdentityAPI

@Suite struct ImageFuzzTests {
    /// Returns a body with random faults: bytes flipped, cut out, doubled or swapped.
    private static func mutate(_ body: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var body = body
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let start = Int.random(in: 0..<body.count, using: &random)
            let end = min(body.count, start + Int.random(in: 1...40, using: &random))
            switch Int.random(in: 0..<4, using: &random) {
            case 0: body[start] = UInt8.random(in: 0...255, using: &random)
            case 1 where end - start < body.count: body.removeSubrange(start..<end)
            case 2: body.insert(contentsOf: body[start..<end], at: start)
            default: body.insert(contentsOf: Array("\"\\{}[],:=\r\n--".utf8).shuffled(using: &random).prefix(3), at: start)
            }
        }
        return body
    }

    @Test(
        .api {
            $0.limits.orders = Rate(perMinute: 0, burst: 1)
            $0.limits.imageJobs.open = 0
        })
    func `any body is answered with a job or an error, and a refused one leaves nothing`() async throws {
        let customer = try await api.customer()
        let order = Order(picture: TestPhoto.jpeg(scanBytes: 600)).with(#""options":{"width":512,"quality":"high"}"#)
        let kinds = [(order.form.contentType, order.form.bytes), ("application/json", order.json)]
        let accepted = try await race(8) { number in
            let (type, body) = kinds[number % 2]
            var random = SeededGenerator(seed: UInt64(number / 2))
            var accepted = 0
            for _ in 0..<60 {
                let response = try await api.send(
                    "POST", Order.path, headers: [customer.bearer, ("Content-Type", type)], body: Self.mutate(body, &random))
                if response.status == 202 { accepted += 1 } else { #expect([400, 408, 413].contains(response.status), "\(response.text)") }
                #expect(response.json.text("meta.requestId") != nil)
            }
            return accepted
        }.reduce(0, +)
        #expect(try await api.count("image_jobs") == accepted)
        #expect(api.storedFiles().count == accepted)
    }
}
