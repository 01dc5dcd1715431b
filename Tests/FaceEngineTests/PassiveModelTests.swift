import Foundation
import TestSupport
import Testing

@testable import FaceEngine

/// The operator's model of liveness: its file, its results and its place in the analysis of photos.
@Suite struct PassiveModelTests {
    private static func softmax(_ numbers: [Float]) -> [Float] {
        let powers = numbers.map { exp($0) }
        return powers.map { $0 / powers.reduce(0, +) }
    }

    private static func bytes(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }

    /// Corrects the checksum of a file that was changed (model_formats.py).
    private static func signed(_ file: [UInt8]) -> [UInt8] {
        var (plain, weighted): (UInt64, UInt64) = (0, 0)
        for at in stride(from: 64, to: file.count, by: 4) {
            let word = file[at..<(at + 4)].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            plain &+= word
            weighted &+= plain
        }
        let sum = plain << 32 | (weighted ^ weighted >> 32) & 0xFFFF_FFFF
        return file[..<56] + withUnsafeBytes(of: sum.littleEndian) { Array($0) } + file[64...]
    }

    private static func load(_ bytes: [UInt8]) throws -> PassiveModel { try PassiveModel(bytes, name: "the file", for: .fastest) }

    @Test func `a converted network computes what onnxruntime computes with the ONNX file, on each instruction set`() async throws {
        let folder = try TemporaryDirectory()
        let expected = try PassiveModelFile.expected()
        for (network, pixels) in [("layers", 26 * 22), ("constant", 32 * 32)] {
            let file = try Self.bytes(try await PassiveModelFile.convert(network, into: folder))
            for set in InstructionSet.available {
                let results = try PassiveModel(file, name: network, for: set).results(PassiveModelFile.testPicture(pixels: pixels))
                let shares = network == "layers" ? Self.softmax(results) : results
                let wanted = try #require(expected[network])
                #expect(shares.count == wanted.count)
                #expect(zip(shares, wanted).allSatisfy { abs($0 - $1) < 1e-5 }, "\(network) on \(set): \(shares) instead of \(wanted)")
            }
        }
    }

    @Test func `an operator that is not supported is named, with those that are`() async throws {
        let folder = try TemporaryDirectory()
        var bytes = try Self.bytes(PackageRoot.file("Tests/PassiveModels/constant.onnx"))
        let name = Array("GlobalAveragePool".utf8)
        let start = try #require(bytes.indices.first { bytes[$0...].starts(with: name) })
        bytes.replaceSubrange(start..<(start + name.count), with: Array("GlobalMedianPools".utf8))
        try Data(bytes).write(to: URL(fileURLWithPath: "\(folder.path)/median.onnx"))
        let failure = await #expect(throws: CommandLineTool.Failure.self) {
            try await PassiveModelFile.convert(onnx: "\(folder.path)/median.onnx", into: folder)
        }
        let output = failure?.output ?? ""
        #expect(output.contains("GlobalMedianPools is not supported") && output.contains("GlobalAveragePool"), "\(output)")
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/median-1.hgm"))
    }

    @Test func `a file that is cut, damaged or forged is refused`() async throws {
        let folder = try TemporaryDirectory()
        let file = try Self.bytes(try await PassiveModelFile.convert("layers", into: folder))
        #expect(throws: FaceEngineError.self) { try PassiveModel(path: "/nowhere/passive.hgm") }
        #expect(throws: FaceEngineError.self) { try PassiveModel(path: folder.path) }
        var faults: [[UInt8]] = [[], Array(file[..<63]), Array(file[..<(file.count - 64)]), file + [UInt8](repeating: 0, count: 64)]
        var damaged = file
        damaged[file.count / 2] ^= 1
        faults.append(damaged)
        for fault in faults {
            let error = #expect(throws: FaceEngineError.self) { try Self.load(fault) }
            #expect(error?.code == .badModel)
        }
        // Facts and layers by someone who knows the checksum: a huge side, no layer, an input that is not there yet, a wide kernel.
        for (word, value) in [(16, 1 << 20), (18, 0), (18, 257), (65, 7), (68, 600), (71, 9), (76, 99)] as [(Int, UInt32)] {
            var forged = file
            withUnsafeBytes(of: value.littleEndian) { forged.replaceSubrange((4 * word)..<(4 * word + 4), with: $0) }
            let error = #expect(throws: FaceEngineError.self, "word \(word) as \(value)") { try Self.load(Self.signed(forged)) }
            #expect(error?.code == .badModel)
        }
        #expect(try Self.load(Self.signed(file)).threshold == 0.5)
    }

    @Test func `a file whose results are others than those of the conversion is refused`() async throws {
        let folder = try TemporaryDirectory()
        var file = try Self.bytes(try await PassiveModelFile.convert("layers", into: folder))
        // The last weights: the network is another one than that of the results in the file.
        withUnsafeBytes(of: Float(40).bitPattern.littleEndian) { bias in
            for at in stride(from: file.count - 64, to: file.count - 56, by: 4) { file.replaceSubrange(at..<(at + 4), with: bias) }
        }
        let error = #expect(throws: FaceEngineError.self) { try Self.load(Self.signed(file)) }
        #expect(error?.code == .selfCheckFailed)
    }

    @Test func `each usable photo gets the score of the live class, and none without a model`() async throws {
        let folder = try TemporaryDirectory()
        let photo = try Photos.read("person-a/front-1")
        for (liveClass, score) in [(0, 0.05), (1, 0.95)] as [(Int, Float)] {
            let model = try PassiveModel(path: try await PassiveModelFile.convert("constant", into: folder, liveClass: liveClass))
            let pool = try await FaceEnginePool.start(
                modelsDirectory: try PackageRoot.file(".cache/models"), passive: model, threads: 1, decoder: Engines.decoder)
            let face = try #require(try await pool.analyse(photo, for: .signUp).face)
            #expect(abs(try #require(face.liveScore) - score) < 1e-5)
            await pool.shutdown()
        }
        #expect(try #require(try await Engines.pool().analyse(photo, for: .signUp).face).liveScore == nil)
    }
}
