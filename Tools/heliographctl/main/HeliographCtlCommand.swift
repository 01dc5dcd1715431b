import HeliographCtl

@main
enum HeliographCtlCommand {
    static func main() async {
        await HeliographCtl.execute()
    }
}
