import Foundation
import Testing

@testable import MobileClient

@Suite struct AttachmentPlanTests {
    private func plan(_ info: [AnyHashable: Any], hosts: Set<String>? = nil) -> [String] {
        AttachmentPlan(PushMessage(PushPayload(userInfo: info)), hosts: hosts).candidates.map(\.absoluteString)
    }

    @Test func `Firebase's address comes before those of the data, and each is tried once`() {
        let all: [AnyHashable: Any] = [
            "image_url": "https://c.example/3.gif", "attachment-url": "https://b.example/2.png",
            "fcm_options": ["image": "https://a.example/1.jpg"],
        ]
        #expect(plan(all) == ["https://a.example/1.jpg", "https://b.example/2.png", "https://c.example/3.gif"])
        #expect(plan(["fcm_options": ["image": "https://a.example/1.jpg"], "image_url": "https://a.example/1.jpg"]).count == 1)
        #expect(plan(["aps": ["alert": "x"]]).isEmpty)
    }

    @Test func `the notifier's pictures are found`() throws {
        let payloads = try PushSamples.fixtures()
        for name in ["job_completed.json", "new_photos.json", "custom.json"] {
            let plan = AttachmentPlan(PushMessage(try #require(payloads[name])))
            #expect(plan.candidates.map(\.absoluteString) == ["https://cdn.example.org/t/5f0c.jpg"], "\(name)")
        }
    }

    @Test(arguments: [
        "http://a.example/1.jpg", "file:///etc/passwd", "ftp://a.example/x", "https://user:secret@a.example/1.jpg", "https:///1.jpg",
        "https://",
        "data:image/png;base64,AA", "a.example/1.jpg", "https://a.example/ 1.jpg", "https://a.example/\n", "https://ä.example/1.jpg", "",
        "https://a.example/" + String(repeating: "x", count: 2_048),
    ])
    func `an address that a phone should not load is left out`(text: String) {
        #expect(plan(["fcm_options": ["image": text], "image_url": "https://b.example/2.png"]) == ["https://b.example/2.png"])
    }

    @Test func `hosts may be limited, by name and by domain`() {
        func isAllowed(_ host: String) -> Bool {
            !plan(["image_url": "https://\(host)/x.png"], hosts: ["CDN.example.org", ".pictures.example"]).isEmpty
        }
        #expect(isAllowed("cdn.example.org") && isAllowed("a.PICTURES.example") && isAllowed("a.b.pictures.example"))
        #expect(!isAllowed("evilcdn.example.org") && !isAllowed("cdn.example.org.evil.example") && !isAllowed("pictures.example"))
        #expect(!isAllowed("evilpictures.example"))
    }

    private static let jpeg = Data([0xff, 0xd8, 0xff, 0xe0, 0, 0x10])
    private static let png = Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

    @Test(
        arguments: [
            (jpeg, "image/jpeg", .jpeg), (jpeg, nil, .jpeg), (jpeg, "application/octet-stream", .jpeg), (png, "image/jpeg; q=1", .png),
            (Data("GIF89a".utf8), "IMAGE/GIF", .gif), (Data("GIF87a".utf8), "image/gif", .gif), (jpeg, "text/html", nil),
            (Data("<html>".utf8), "image/jpeg", nil), (Data("RIFF....WEBP".utf8), "image/webp", nil),
            (Data("GIF90a".utf8), "image/gif", nil),
            (Data(), "image/png", nil), (Data([0xff, 0xd8]), "image/jpeg", nil),
        ] as [(Data, String?, AttachmentType?)])
    func `the type is what the first bytes say, unless the server says that it is no picture`(
        bytes: Data, contentType: String?, expected: AttachmentType?
    ) {
        #expect(AttachmentType(firstBytes: bytes, contentType: contentType) == expected)
    }

    @Test func `each type has Apple's names`() {
        #expect(AttachmentType.allCases.map(\.fileExtension) == ["jpg", "png", "gif"])
        #expect(AttachmentType.allCases.map(\.typeIdentifier) == ["public.jpeg", "public.png", "com.compuserve.gif"])
    }
}
