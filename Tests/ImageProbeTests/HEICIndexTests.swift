import ImageProbe
import Testing

@Suite struct HEICIndexTests {
    @Test(.timeLimit(.minutes(1)))
    func `extents without bytes cost nothing, however many an index claims to have`() throws {
        // Four billion extents in 360 kB.
        let items: [UInt8] = (0..<60_000).flatMap { number -> [UInt8] in TestImages.big(number, 2) + [0, 0, 0xFF, 0xFF] }
        let size = TestImages.box("ispe", [0, 0, 0, 0] + TestImages.big(64, 4) + TestImages.big(48, 4))
        let locations = TestImages.box("iloc", [0, 0, 0, 0, 0, 0] + TestImages.big(60_000, 2) + items)
        let index = TestImages.box("meta", [0, 0, 0, 0] + TestImages.box("iprp", TestImages.box("ipco", size)) + locations)
        let file = TestImages.box("ftyp", Array("heic".utf8) + [0, 0, 0, 0] + Array("heic".utf8)) + index + TestImages.box("mdat", [0])
        var probe = ImageProbe()
        try probe.feed(file.span.bytes)
        let info = try probe.finish()
        #expect((info.width, info.height) == (64, 48))
    }

    /// A file whose index has these boxes as well.
    private func probe(_ boxes: [UInt8]) throws -> ImageInfo {
        let size = TestImages.box("ispe", [0, 0, 0, 0] + TestImages.big(64, 4) + TestImages.big(48, 4))
        let locations = TestImages.box("iloc", [0, 0, 0, 0, 0, 0] + TestImages.big(0, 2))
        let index = TestImages.box("meta", [0, 0, 0, 0] + TestImages.box("iprp", TestImages.box("ipco", size)) + locations + boxes)
        let file = TestImages.box("ftyp", Array("heic".utf8) + [0, 0, 0, 0] + Array("heic".utf8)) + index + TestImages.box("mdat", [0])
        var probe = ImageProbe()
        try probe.feed(file.span.bytes)
        return try probe.finish()
    }

    @Test(arguments: [(version: 2, idBytes: 2), (version: 3, idBytes: 4)])
    func `an overlay of other pictures is refused, a grid is not`(version: Int, idBytes: Int) throws {
        func items(_ type: String) -> [UInt8] {
            let entry = TestImages.big(version << 24, 4) + TestImages.big(1, idBytes) + TestImages.big(0, 2) + Array(type.utf8) + [0]
            return TestImages.box("iinf", [0, 0, 0, 0] + TestImages.big(1, 2) + TestImages.box("infe", entry))
        }
        for type in ["iovl", "iden"] {
            #expect(throws: ImageProbeError.self) { try probe(items(type)) }
        }
        #expect(try probe(items("grid")).width == 64)
    }

    @Test(arguments: [(version: 0, idBytes: 2), (version: 1, idBytes: 4)])
    func `a picture of more parts than a phone's is refused`(version: Int, idBytes: Int) throws {
        func references(_ count: Int) -> [UInt8] {
            let parts = (0..<count).flatMap { _ in TestImages.big(2, idBytes) }
            let grid = TestImages.box("dimg", TestImages.big(1, idBytes) + TestImages.big(count, 2) + parts)
            return TestImages.box("iref", TestImages.big(version << 24, 4) + grid)
        }
        #expect(try probe(references(512)).width == 64)
        #expect { try probe(references(513)) } throws: { ($0 as? ImageProbeError)?.code == .tooCostly }
    }
}
