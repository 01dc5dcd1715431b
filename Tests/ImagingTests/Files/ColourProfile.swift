/// Small ICC profiles (version 2) with unusual colours, so that a test can detect whether they are applied.
enum ColourProfile {
    /// A profile with red and green exchanged.
    static let swappedRedAndGreen: [UInt8] = {
        let colorants = [("rXYZ", [0.3851, 0.7169, 0.0971]), ("gXYZ", [0.4361, 0.2225, 0.0139]), ("bXYZ", [0.1431, 0.0606, 0.7141])]
        let curve = tagged("curv", [0, 0, 0, 1, 2, 0x33])
        return profile(
            device: "mntr", space: "RGB ", connection: "XYZ ",
            colorants.map { ($0.0, tagged("XYZ ", $0.1.flatMap(fixed))) } + ["rTRC", "gTRC", "bTRC"].map { ($0, curve) })
    }()

    /// A profile of four inks, all of them green; more ink is darker.
    static let greenInks: [UInt8] = {
        let identity = [1.0, 0, 0, 0, 1, 0, 0, 0, 1].flatMap(fixed)
        let straight = (0...255).map { UInt8($0) }
        var table: [UInt8] = [4, 3, 2, 0] + identity
        for _ in 0..<4 { table += straight }
        for corner in 0..<16 {
            let inks = corner.nonzeroBitCount
            table += inks == 0 ? [255, 128, 128] : [UInt8(190 - 30 * inks), 60, 180]
        }
        for _ in 0..<3 { table += straight }
        return profile(device: "prtr", space: "CMYK", connection: "Lab ", [("A2B0", tagged("mft1", table))])
    }()

    private static func profile(device: String, space: String, connection: String, _ tags: [(String, [UInt8])]) -> [UInt8] {
        var index = PNGFile.bigEndian(tags.count)
        var contents: [UInt8] = []
        for (name, content) in tags {
            index += Array(name.utf8) + PNGFile.bigEndian(128 + 4 + 12 * tags.count + contents.count) + PNGFile.bigEndian(content.count)
            contents += content + [UInt8](repeating: 0, count: (4 - content.count % 4) % 4)
        }
        let zeros = { (count: Int) in [UInt8](repeating: 0, count: count) }
        var header = PNGFile.bigEndian(128 + index.count + contents.count) + zeros(4) + [2, 0x10, 0, 0]
        header += Array((device + space + connection).utf8) + [7, 0xE8, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0] + Array("acsp".utf8) + zeros(28)
        header += [0.9642, 1, 0.8249].flatMap(fixed) + zeros(48)
        return header + index + contents
    }

    private static func tagged(_ type: String, _ content: [UInt8]) -> [UInt8] { Array(type.utf8) + [0, 0, 0, 0] + content }

    private static func fixed(_ number: Double) -> [UInt8] { PNGFile.bigEndian(Int((number * 65_536).rounded())) }
}
