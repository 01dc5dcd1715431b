import Imaging
import Storage
import Testing

@Suite struct TemplateTests {
    @Test func `the styles that an operator may name are those the local generator has`() {
        #expect(ImageTemplate.styles == PictureStyle.allCases.map(\.rawValue))
    }
}
