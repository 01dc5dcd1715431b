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
            #expect { try probe(items(type)) } throws: { ($0 as? ImageProbeError)?.code == .tooCostly }
        }
        #expect(try probe(items("grid")).width == 64)
    }

    @Test(arguments: [(version: 0, idBytes: 2), (version: 1, idBytes: 4)])
    func `a picture of more parts than a phone's, also by parts of its parts, is refused`(version: Int, idBytes: Int) throws {
        func grid(_ id: Int, of part: Int, _ count: Int) -> [UInt8] {
            let parts = (0..<count).flatMap { _ in TestImages.big(part, idBytes) }
            return TestImages.box("dimg", TestImages.big(id, idBytes) + TestImages.big(count, 2) + parts)
        }
        func references(_ grids: [UInt8]...) -> [UInt8] {
            TestImages.box("iref", TestImages.big(version << 24, 4) + grids.flatMap { $0 })
        }
        // A picture with a gain map is made of two grids.
        #expect(try probe(references(grid(9, of: 1, 1), grid(1, of: 2, 512), grid(3, of: 4, 192))).width == 64)
        let bombs = [
            references(grid(1, of: 2, 513)), references(grid(1, of: 2, 32), grid(2, of: 3, 32)), references(grid(1, of: 1, 1)),
        ]
        for bomb in bombs {
            #expect { try probe(bomb) } throws: { ($0 as? ImageProbeError)?.code == .tooCostly }
        }
    }
}
