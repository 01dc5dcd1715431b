import Foundation

/// Converts the networks of `Tests/PassiveModels` into files of passive models, as an operator does.
public enum PassiveModelFile {
    /// What onnxruntime computes for ``testPicture(pixels:)``, by network (`expected.json`).
    public static func expected() throws -> [String: [Float]] {
        let json = try Data(contentsOf: URL(fileURLWithPath: PackageRoot.file("Tests/PassiveModels/expected.json")))
        return try JSONDecoder().decode([String: [Float]].self, from: json)
    }

    /// Converts a network and returns the path of the file.
    ///
    /// - Parameters:
    ///   - network: `layers`, which has every operator, or `constant`, whose shares are 0.05 and 0.95 for every picture.
    ///   - liveClass: The class of live faces.
    @discardableResult
    public static func convert(_ network: String, into folder: TemporaryDirectory, liveClass: Int = 1) async throws -> String {
        try await convert(onnx: PackageRoot.file("Tests/PassiveModels/\(network).onnx"), into: folder, liveClass: liveClass)
    }

    /// Converts a file and returns the path of the result.
    @discardableResult
    public static func convert(onnx: String, into folder: TemporaryDirectory, liveClass: Int = 1) async throws -> String {
        let output = "\(folder.path)/\(URL(fileURLWithPath: onnx).deletingPathExtension().lastPathComponent)-\(liveClass).hgm"
        try await CommandLineTool.run([
            "/usr/bin/python3", try PackageRoot.file("deploy/local/convert-passive-model.py"), "--onnx", onnx, "--output", output,
            "--live-class", "\(liveClass)", "--threshold", "0.5", "--channels", "rgb", "--mean", "127.5", "--scale", "0.0078125",
        ])
        return output
    }

    /// Noise by a linear congruential generator, as `passive_reference.py` makes it.
    public static func testPicture(pixels: Int) -> [UInt8] {
        var state: UInt32 = 20
        return (0..<pixels * 3).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(state >> 24)
        }
    }
}
