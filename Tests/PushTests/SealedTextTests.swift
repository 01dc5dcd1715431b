import FoundationEssentials
import HeliographCrypto
import JSON
import Push
import TestSupport
import Testing
import WireFormat

@Suite struct SealedTextTests {
    private let old = KeyRing.generateText(id: "k1")
    private let new = KeyRing.generateText(id: "k2")
    private var before: Sealer { get throws { Sealer(keyRing: try KeyRing(parsing: old)) } }
    private var both: Sealer { get throws { Sealer(keyRing: try KeyRing(parsing: "\(new),\(old)")) } }
    private var after: Sealer { get throws { Sealer(keyRing: try KeyRing(parsing: new)) } }

    @Test func `a text opens for its notification and its use alone`() throws {
        let (id, sealer) = (UUID(), try before)
        let text = try SealedText(sealing: "Zoë", .chatSenderName, of: id, with: sealer)
        #expect(try text.opened(of: id, with: sealer) == "Zoë")
        #expect(throws: CryptoError.self) { try text.opened(of: UUID(), with: sealer) }
        for use in SealedText.Use.allCases where use != .chatSenderName {
            #expect(throws: CryptoError.self) { try SealedText(use, bytes: text.bytes).opened(of: id, with: sealer) }
        }
    }

    @Test func `a content refuses a text of another use in its place`() throws {
        let nonce = SealedText(.possessionNonce, bytes: [1])
        let check = PossessionCheckPush(handOverID: UUID(), nonce: nonce)
        let json = String(decoding: check.content.encoded(), as: UTF8.self)
        #expect(try PushContent(.possessionCheck, decoding: Array(json.utf8)) == check.content)
        let other = json.replacing("possession_nonce", with: "chat_preview")
        #expect(throws: WireFormatError.self) { try PushContent(.possessionCheck, decoding: Array(other.utf8)) }
    }

    @Test func `a rotation finds the texts of every kind by their form, wherever they are`() throws {
        let (id, sealer) = (UUID(), try before)
        for kind in NotificationKind.allCases {
            var sealed = 0
            let content = try PushContent.sample(kind) { text, use in
                sealed += 1
                return try SealedText(sealing: text, use, of: id, with: sealer)
            }
            let request = NotificationRequested(
                notificationID: id, dedupeKey: "k", content: content, recipient: .user(id), lane: .normal, expiresAt: Date())
            for json in [content.encoded(), try Envelope(request).encoded().body] {
                let texts = try SealedText.all(in: json)
                #expect(texts.count == sealed, "\(kind)")
                for text in texts { _ = try text.opened(of: id, with: sealer) }
                let resealed = try SealedText.resealed(in: json, of: id, with: both)
                #expect((resealed != nil) == (sealed > 0), "\(kind)")
                guard let resealed else { continue }
                for text in try SealedText.all(in: resealed) { _ = try text.opened(of: id, with: after) }
                #expect(try SealedText.resealed(in: resealed, of: id, with: both) == nil, "the current key sealed all of it")
            }
        }
    }

    @Test func `the pattern for Postgres finds the bytes, and none in a text that looks like them`() throws {
        let regex = try Regex(SealedText.pattern)
        let text = PushContent.sample(.jobFailed, text: #""sealed":"QUJD""#).encoded()
        #expect(String(decoding: text, as: UTF8.self).firstMatch(of: regex) == nil)
        let sealed = String(decoding: PushContent.sample(.chatMessage).encoded(), as: UTF8.self)
        #expect(sealed.matches(of: regex).count == 2 && sealed.contains(SealedText.marker))
        let removed = sealed.replacing(regex, with: SealedText.removal)
        guard case .chatMessage(let message) = try PushContent(.chatMessage, decoding: Array(removed.utf8)) else {
            Issue.record("the content is of another kind")
            return
        }
        #expect(message.text?.bytes.isEmpty == true && message.senderName?.bytes.isEmpty == true)
    }

    @Test(arguments: ["no JSON", #"{"a":{"sealed":"?","use":"chat_preview"}}"#, #"[{"sealed":"QUJD","use":"another"}]"#])
    func `sealed texts that cannot be read are a fault, and are not passed over`(json: String) {
        #expect(throws: CryptoError.self) { try SealedText.all(in: Array(json.utf8)) }
    }
}
