import Foundation
import Testing

@testable import MobileClient

/// What is refused before anything is written or sent, and what is sent of what is not.
@Suite struct EKYCPhotoTests {
    private let phone: EKYCPhone

    init() throws { phone = try EKYCPhone() }

    private func refusal(
        _ photos: [EKYCClient.Photo], email: String = "a@b.example", sourceLocation: SourceLocation = #_sourceLocation
    ) async -> HeliographError? {
        let process = phone.launch()
        let error = await #expect(throws: HeliographError.self, sourceLocation: sourceLocation) {
            try await process.client.signIn(photos, email: email)
        }
        #expect(phone.leftovers == [], sourceLocation: sourceLocation)
        #expect(await process.sender.sent.isEmpty, sourceLocation: sourceLocation)
        return error
    }

    @Test(arguments: [0, 2, 4]) func `any other number of photos is refused`(count: Int) async {
        let photos = (0..<count).map { EKYCPhone.photo(UInt8($0)) }
        let expected = HeliographError(.invalidArgument, "Exactly 3 photos are needed, not \(count)", field: "faces")
        #expect(await refusal(photos) == expected)
    }

    @Test func `the group of a sign-up that is wrong is named`() async {
        let process = phone.launch()
        for field in ["left_faces", "right_faces", "front_faces"] {
            var photos = EKYCPhone.poses
            switch field {
            case "left_faces": photos.left.removeLast()
            case "right_faces": photos.right.removeLast()
            default: photos.front.removeLast()
            }
            let error = await #expect(throws: HeliographError.self) { try await process.client.signUp(photos) }
            #expect(error?.field == field && error?.code == .invalidArgument)
        }
    }

    @Test func `the photos of a sign-up that answer a challenge are three`() async {
        let process = phone.launch()
        let challenge = EKYCClient.Challenge(id: "c", poses: [.left, .right, .front], expiresAt: Date())
        for photos in [[], [EKYCPhone.photo(1)], EKYCPhone.faces + EKYCPhone.faces] {
            let error = await #expect(throws: HeliographError.self) {
                try await process.client.signUp(EKYCPhone.poses, answering: .init(challenge, photos: photos))
            }
            #expect(error?.field == "challenge_photos" && error?.code == .invalidArgument)
        }
        #expect(phone.leftovers == [])
    }

    private static let tooLarge =
        "A photo has up to 10 MB, 16 megapixels and 12000 pixels a side, and this one cannot be scaled down here: give a smaller one"

    static let noPhotos: [(String, Data)] = [
        ("A photo is empty", Data()), ("A photo must be a JPEG, PNG, WebP or HEIC file", Data("GIF89a".utf8)),
        ("A photo must be a JPEG, PNG, WebP or HEIC file", Data([0xFF, 0xD8])),
        ("A photo must be a JPEG, PNG, WebP or HEIC file", Data("RIFF1234WAVE".utf8)),
        ("A photo must be a JPEG, PNG, WebP or HEIC file", Data([0, 0, 0, 20]) + Data("ftypmp42\0\0\0\0isom".utf8)),
        ("A photo must be a JPEG, PNG, WebP or HEIC file", Data([0, 0, 0, 16]) + Data("ftypmp42\0\0\0\0heic".utf8)),
        (tooLarge, Data([0xFF, 0xD8, 0xFF]) + Data(count: 10 << 20)), (tooLarge, PhotoHeads.jpeg(4_001, 4_000)),
    ]

    @Test(arguments: noPhotos) func `what is no photo is refused, as data and as a file`(message: String, data: Data) async throws {
        let expected = HeliographError(.invalidArgument, message, field: "faces")
        #expect(await refusal([EKYCPhone.photo(1), .data(data), EKYCPhone.photo(3)]) == expected)
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "photo")
        try data.write(to: file)
        #expect(await refusal([EKYCPhone.photo(1), .file(file), EKYCPhone.photo(3)]) == expected)
    }

    @Test func `a file that cannot be read, an address that is none, and a phone without a push token are refused`() async throws {
        #expect(await refusal([.file(URL(fileURLWithPath: "/nowhere")), EKYCPhone.photo(2), EKYCPhone.photo(3)])?.code == .storage)
        #expect(await refusal(EKYCPhone.faces, email: "a b")?.field == "email")
        let store = phone.launch().store
        let secrets = FileSecrets(folder: phone.folder.url)
        let ports = EKYCPorts(
            sender: ScriptedSender { _ in .json("{}") }, store: store, secrets: secrets, time: phone.time.source, pushToken: { nil },
            signIn: { _ in }, isSignedIn: { _ in false })
        let client = EKYCClient(EKYCSessionManager(ports))
        let error = await #expect(throws: HeliographError.self) { try await client.signIn(EKYCPhone.faces, email: "a@b.example") }
        #expect(error?.field == "fcm_token")
    }

    @Test func `a photo that is too large is scaled down, and the others are sent as they are`() async throws {
        let scaler = FakeScaler()
        let process = phone.launch(isInstant: true, scaler: scaler)
        let photos: [EKYCClient.Photo] = [.data(PhotoHeads.heic(8_064, 6_048)), EKYCPhone.photo(2), EKYCPhone.photo(3)]
        _ = await (try await process.client.signIn(photos, email: "a@b.example")).result()
        let body = try #require(await process.sender.sent.first?.body)
        let head = #"name="faces"; filename="1.jpg"\#r\#nContent-Type: image/jpeg"# + "\r\n\r\n"
        #expect(body.range(of: Data(head.utf8) + FakeScaler.jpeg + Data("\r\n".utf8)) != nil)
        #expect(body.range(of: Data([0xFF, 0xD8, 0xFF, 2]) + Data("photo\r\n".utf8)) != nil)
        #expect(scaler.count == 1)
    }

    static let photos: [(String, String, Data)] = [
        ("1.jpg", "image/jpeg", Data([0xFF, 0xD8, 0xFF, 0xE0])), ("1.png", "image/png", Data([0x89]) + Data("PNG\r\n\u{1A}\n".utf8)),
        ("1.webp", "image/webp", Data("RIFF1234WEBP".utf8)), ("1.heic", "image/heic", Data([0, 0, 0, 16]) + Data("ftypheic\0\0\0\0".utf8)),
        ("1.heic", "image/heic", Data([0, 0, 0, 24]) + Data("ftypmif1\0\0\0\0mif1heic".utf8)),
    ]

    @Test(arguments: photos) func `a photo is sent unchanged with its type, as data and as a file`(
        name: String, type: String, data: Data
    ) async throws {
        let file = phone.folder.url.appending(path: "photo")
        try data.write(to: file)
        for photo in [EKYCClient.Photo.data(data), .file(file)] {
            let process = phone.launch(isInstant: true)
            let session = try await process.client.signIn([photo, EKYCPhone.photo(2), EKYCPhone.photo(3)], email: " a@b.example ")
            _ = await session.result()
            let body = try #require(await process.sender.sent.first?.body)
            let head = #"Content-Disposition: form-data; name="faces"; filename="\#(name)"\#r\#nContent-Type: \#(type)"# + "\r\n\r\n"
            #expect(body.range(of: Data(head.utf8) + data + Data("\r\n".utf8)) != nil)
            #expect(body.range(of: Data("name=\"email\"\r\n\r\na@b.example\r\n".utf8)) != nil)
        }
        #expect(try Data(contentsOf: file) == data)
    }
}
