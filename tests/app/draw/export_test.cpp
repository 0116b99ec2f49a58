#include "app/draw/export.h"
#include "tests/app/draw/drawn_scene.h"
#include "tests/support/temporary_folder.h"

#include <QImage>
#include <QXmlStreamReader>

namespace workbench {
namespace {

using Export = TemporaryFolder;

QStringList textsIn(const QByteArray& svg) {
    QStringList texts;
    QXmlStreamReader reader(svg);
    while (!reader.atEnd())
        if (reader.readNext() == QXmlStreamReader::StartElement && reader.name() == QLatin1String("text"))
            texts.push_back(reader.readElementText());
    EXPECT_FALSE(reader.hasError()) << reader.errorString().toStdString();
    return texts;
}

ExportOptions titled() {
    ExportOptions options;
    options.title = "A model";
    options.legend.entries.push_back({3, "qkv", 2});
    return options;
}

TEST_F(Export, SvgCarriesTitleNamesTypesAndLegend) {
    const auto scene = openedScene();
    ASSERT_TRUE(scene);
    const auto svg = exportSvg(*scene, {}, titled());
    ASSERT_TRUE(svg);
    const QStringList texts = textsIn(*svg);
    for (const char* text : {"A model", "add", "weight", "f32[1, T, 8]", "qkv  2 applied"})
        EXPECT_TRUE(texts.contains(QLatin1String(text))) << text;
}

TEST_F(Export, PngHasThePixelsThatWereAskedFor) {
    const auto scene = openedScene();
    ASSERT_TRUE(scene);
    ExportOptions options = titled();
    options.pixelRatio = 1;
    const auto once = exportPng(*scene, {}, options);
    options.pixelRatio = 2;
    const auto twice = exportPng(*scene, {}, options);
    ASSERT_TRUE(once && twice);
    EXPECT_EQ(QImage::fromData(*twice).size(), QImage::fromData(*once).size() * 2);
    EXPECT_GT(QImage::fromData(*once).height(), scene->bounds.height());
}

TEST_F(Export, AVeryLongDrawingIsMadeSmaller) {
    const auto scene = openedScene();
    ASSERT_TRUE(scene);
    Scene longer = *scene;
    longer.bounds.setHeight(40'000);
    const auto png = exportPng(longer, {}, {});
    ASSERT_TRUE(png);
    EXPECT_LE(QImage::fromData(*png).height(), 16'384);
}

TEST_F(Export, APartIsCutOut) {
    const auto scene = openedScene();
    ASSERT_TRUE(scene);
    ExportOptions options;
    options.part = QRectF(0, 0, 500, 100);
    options.pixelRatio = 1;
    const auto png = exportPng(*scene, {}, options);
    ASSERT_TRUE(png);
    EXPECT_EQ(QImage::fromData(*png).size(), QSize(500 + 2 * 28, 100 + 2 * 28));
}

TEST_F(Export, FilesAreWrittenByTheirSuffix) {
    const auto scene = openedScene();
    ASSERT_TRUE(scene);
    ASSERT_TRUE(exportPicture(folder() / "a.png", *scene, {}, {}));
    ASSERT_TRUE(exportPicture(folder() / "a.svg", *scene, {}, {}));
    EXPECT_FALSE(QImage(QString::fromStdString(folder() / "a.png")).isNull());
    const Status unknown = exportPicture(folder() / "a.jpeg", *scene, {}, {});
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code, ErrorCode::usage);
    EXPECT_FALSE(std::filesystem::exists(folder() / "a.jpeg"));
}

TEST_F(Export, AFolderThatIsNotThereIsAnError) {
    const auto scene = openedScene();
    ASSERT_TRUE(scene);
    EXPECT_FALSE(exportPicture(folder() / "none" / "a.svg", *scene, {}, {}));
}

} // namespace
} // namespace workbench
