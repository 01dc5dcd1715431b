import Foundation
import TestSupport
import Testing

/// Tests the memory of the real image-worker while it processes pictures of the maximum size.
@Suite struct PictureMemoryTests {
    /// The most memory of an image-worker, in MiB.
    private static let most = 470

    @Test func `concurrent pictures of 40 megapixels that are not decodable by rows stay within the memory limit`() async throws {
        let stack = try await Stack.shared()
        let phone = try await Phone.make(stack)
        async let signedIn = phone.accessToken()
        let pictures = try await LargePictures.make()
        let token = try await signedIn
        let jobs = try await withThrowingTaskGroup(of: String.self) { group in
            for (picture, template) in zip(pictures, ["vintage", "pencil-sketch", "vintage", "anime-style"]) {
                group.addTask {
                    try await phone.submit(picture, template: template, options: #"{"quality":"high"}"#, bearer: token).jobID
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for id in jobs {
            let job = try await phone.job(id, bearer: token, query: "&result=url")
            #expect(job["status"].text == "completed", "\(job["error"])")
        }
        let peak = try #require(stack.peakMemory(of: "image-worker"))
        #expect(peak <= Self.most, "image-worker took \(peak) MiB")
    }
}

/// Makes pictures of 40 megapixels in encodings that a decoder has to hold completely; black, so that they are made quickly.
private enum LargePictures {
    static func make() async throws -> [[UInt8]] {
        let folder = try TemporaryDirectory()
        try await CommandLineTool.run(["vips", "black", "\(folder.path)/black.v", "8000", "5000", "--bands", "3"])
        let black = "\(folder.path)/black.v"
        return try await withThrowingTaskGroup(of: [UInt8].self) { group in
            let kinds = [
                ("1.jpg[interlace,no-subsample]", "srgb"), ("2.png[interlace,compression=1]", "rgb16"),
                ("3.webp[lossless,effort=0]", "srgb"), ("4.jpg[interlace,no-subsample]", "srgb"),
            ]
            for (name, colours) in kinds {
                let path = "\(folder.path)/\(name)"
                let call = ["vips", "colourspace", black, path, colours]
                group.addTask {
                    try await CommandLineTool.run(call)
                    return [UInt8](try Data(contentsOf: URL(fileURLWithPath: String(path.prefix { $0 != "[" }))))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
